/* bill.h - the parts of a fabric and what they cost. */
#ifndef HXMESH_TOPOLOGY_BILL_H
#define HXMESH_TOPOLOGY_BILL_H

#include "topology/prices.h"

/* What all planes cost, with the links that failed. */
struct hx_bill {
    uint64_t switches;
    uint64_t cables[HX_LINK_KINDS];
    uint64_t usd;
};

/* gbps: of a link without a rate of its own. A server is a host, and a router that a trace joins to a host: hosts that
 * forward, NPUs with routers. A cable costs what its kind costs, a NIC at each end at a server, and a port at each end
 * at a switch. If it is optical (hx_prices.optical), also two transceivers and a fibre. Between two servers it then has
 * two ends of a circuit instead of the fibre. Traces have only the price of their kind. */
struct hx_bill hx_fabric_bill(const struct hx_fabric *f, const struct hx_prices *p, double gbps);

#endif
