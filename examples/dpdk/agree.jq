# agree.jq - what the reports of an emulator and of its DPDK node say, and whether they agree on every message and on
# every frame of every cable. jq --slurp --from-file agree.jq EMULATOR NODE
{
    emulator: (.[0] | {packets_sent, packets_delivered, packets_lost, packets_repeated, bytes_corrupted,
                       seconds: .host.wall_seconds, packet_hops, external}),
    node: (.[1] | {seconds, packets, endpoint, drops}),
    agree: (.[0].external.to.messages == .[1].endpoint.messages_received and
            .[0].external.from.messages == .[1].endpoint.messages_sent and
            ([.[0].external.cables[] | {(.port[-1:]): [.data_in, .data_out]}] | add) ==
            ([.[1].ports[] | select(.port != "local") | {(.port): [.tx_packets, .rx_packets]}] | add))
} | .good = (.agree and .emulator.packets_lost == 0 and .emulator.bytes_corrupted == 0 and
             .node.endpoint.messages_failed == 0 and .node.endpoint.bytes_corrupted == 0)
