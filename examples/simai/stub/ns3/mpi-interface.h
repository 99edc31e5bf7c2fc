/* mpi-interface.h - empty: SimAI includes a header of ns-3 of this name, and the namespace ns3, for its own reports. */
namespace ns3
{
}
