/* traces.cc - collectives of Chakra traces (traces.hh). */
#include "traces.hh"
#include "fail.hh"
#include "files.hh"

#include <et_def.pb.h>
#include <fstream>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <map>

namespace astra_hxmesh
{

using google::protobuf::util::ParseDelimitedFromZeroCopyStream;

static const std::string option = "--workload-configuration";

static std::string name_of(const std::string &prefix, int npu)
{
    return prefix + "." + std::to_string(npu) + ".et";
}

/* The number of an attribute, whatever its type. */
static int64_t number_of(const ChakraProtoMsg::AttributeProto &attribute)
{
    switch (attribute.value_case()) {
    case ChakraProtoMsg::AttributeProto::kInt32Val:
        return attribute.int32_val();
    case ChakraProtoMsg::AttributeProto::kUint32Val:
        return attribute.uint32_val();
    case ChakraProtoMsg::AttributeProto::kUint64Val:
        return static_cast<int64_t>(attribute.uint64_val());
    default:
        return attribute.int64_val();
    }
}

static void add_collective(const ChakraProtoMsg::Node &node, std::set<std::string> &found)
{
    static const std::map<int64_t, std::string> names = {{ChakraProtoMsg::ALL_REDUCE, "all-reduce"},
                                                         {ChakraProtoMsg::ALL_GATHER, "all-gather"},
                                                         {ChakraProtoMsg::REDUCE_SCATTER, "reduce-scatter"},
                                                         {ChakraProtoMsg::ALL_TO_ALL, "all-to-all"}};
    if (node.type() != ChakraProtoMsg::COMM_COLL_NODE)
        return;
    for (const auto &attribute : node.attr()) {
        const auto name = names.find(attribute.name() == "comm_type" ? number_of(attribute) : -1);
        if (name != names.end())
            found.insert(name->second);
    }
}

static void read(const std::string &name, std::set<std::string> &found)
{
    std::ifstream file(name, std::ios::binary);
    google::protobuf::io::IstreamInputStream stream(&file);
    ChakraProtoMsg::GlobalMetadata metadata;
    ChakraProtoMsg::Node node;
    bool ended = false;
    size_t nodes = 0;
    if (!ParseDelimitedFromZeroCopyStream(&metadata, &stream, &ended))
        fail(BAD_CONFIGURATION, option + ": " + name + ": is no Chakra trace");
    for (; ParseDelimitedFromZeroCopyStream(&node, &stream, &ended); node.Clear(), nodes++)
        add_collective(node, found);
    if (!ended)
        fail(BAD_CONFIGURATION, option + ": " + name + ": breaks off after " + std::to_string(nodes) + " nodes");
}

std::set<std::string> collectives_of_traces(const std::string &prefix, int npus)
{
    std::set<std::string> found;
    check_readable(option, name_of(prefix, 0), " (PREFIX is what stands before .0.et)");
    for (int npu = 0; npu < npus; npu++) {
        check_readable(option, name_of(prefix, npu),
                       ": " + std::to_string(npus) + " NPUs, each with a trace (--dims " + std::to_string(npu) + "?)");
        read(name_of(prefix, npu), found);
    }
    if (std::ifstream(name_of(prefix, npus)))
        fail(BAD_CONFIGURATION, option + ": " + name_of(prefix, npus) +
                                    ": is a trace of an NPU that is not there: the NPUs are " + std::to_string(npus) +
                                    " (--dims, or a fabric with more hosts)");
    return found;
}

} // namespace astra_hxmesh
