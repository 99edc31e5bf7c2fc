-- hxmesh_notice.lua - dissects frames of notices of dead links, EtherType 0x88B6. Returns a function that makes the
-- dissector. hxmesh.lua calls it; alone it does nothing.

return function(common)
    local START, NOTICE = 6, 16 -- bytes between the Ethernet header and the first notice, and of a notice
    local MOST = 4 -- notices of a frame
    local PORTS = { [0] = "E", "W", "N", "S" } -- of an accelerator
    local bit = common.bit
    local notice = Proto("hxmesh_notice", "HammingMesh notices")

    local n = {
        version = ProtoField.uint8("hxmesh_notice.version", "Version"),
        kind = ProtoField.uint8("hxmesh_notice.kind", "Kind", base.DEC, common.CONTROL_KINDS),
        plane = ProtoField.uint8("hxmesh_notice.plane", "Plane"),
        items = ProtoField.uint8("hxmesh_notice.count", "Notices"),
        reserved = ProtoField.bytes("hxmesh_notice.reserved", "Reserved"),
        node = ProtoField.uint32("hxmesh_notice.node", "Node"),
        sequence = ProtoField.uint32("hxmesh_notice.sequence", "Sequence"),
        dead = ProtoField.uint64("hxmesh_notice.dead", "Ports with a dead link", base.HEX),
        port_of = ProtoField.uint8("hxmesh_notice.dead.port", "Port with a dead link"),
        digest = ProtoField.uint64("hxmesh_notice.digest", "Digest", base.HEX),
        nonce = ProtoField.uint64("hxmesh_notice.nonce", "Nonce", base.HEX),
        peer_nonce = ProtoField.uint64("hxmesh_notice.peer_nonce", "Peer nonce", base.HEX),
        crc = ProtoField.uint32("hxmesh_notice.crc", "CRC-32C", base.HEX),
        crc_status = ProtoField.uint8("hxmesh_notice.crc.status", "CRC status", base.DEC, common.CRC_STATES),
        auth_tag_number = ProtoField.uint64("hxmesh_notice.seal.number", "Number of the authentication tag"),
        auth_tag_hash = ProtoField.uint64("hxmesh_notice.seal.hash", "Hash of the authentication tag", base.HEX),
        port = ProtoField.string("hxmesh_notice.port", "Port"),
    }
    notice.fields = common.values_of(n)

    local ne = common.experts("hxmesh_notice")
    ne.dead = ProtoExpert.new("hxmesh_notice.dead_link", "A node says that links are dead", expert.group.SEQUENCE,
        expert.severity.NOTE)
    notice.experts = common.values_of(ne)

    -- The numbers of the ports in a mask of 8 bytes, ascending, and their names at an accelerator.
    local function ports_of(range)
        local numbers, names = {}, {}
        for port = 0, 63 do
            local byte = range(7 - math.floor(port / 8), 1):uint()
            if bit.band(bit.rshift(byte, port % 8), 1) == 1 then
                numbers[#numbers + 1] = port
                names[#names + 1] = PORTS[port]
            end
        end
        return numbers, #names == #numbers and names or {}
    end

    -- Adds a notice. Returns its text for the info column.
    local function add_notice(tree, range, number)
        local node, sequence = range(0, 4):uint(), range(4, 4):uint()
        local ports, names = ports_of(range(8, 8))
        local text = #ports == 0 and "none" or table.concat(ports, ",")
        local item = tree:add(notice, range, string.format("Notice %d: node %d, dead ports %s", number, node, text))
        item:add(n.node, range(0, 4))
        item:add(n.sequence, range(4, 4))
        local dead = item:add(n.dead, range(8, 8))
        if #names > 0 then
            dead:append_text(" (of an accelerator: " .. table.concat(names, ", ") .. ")")
        end
        for _, port in ipairs(ports) do
            dead:add(n.port_of, range(8, 8), port):set_generated()
        end
        if sequence == 0 then
            item:add_proto_expert_info(ne.field, "Sequence is 0")
        end
        if #ports > 0 then
            item:add_proto_expert_info(ne.dead)
        end
        return string.format("node %d #%d dead ports %s", node, sequence, text)
    end

    function notice.dissector(tvb, pinfo, root)
        pinfo.cols.protocol = "HXMESH"
        local tree = root:add(notice, tvb())
        if not common.has_bytes(tvb, pinfo, tree, ne, "notices, ", START) then
            return tvb:captured_len()
        end
        local count = tvb(3, 1):uint()
        if count > MOST then
            tree:add_proto_expert_info(ne.field, "Notices are more than 4")
            pinfo.cols.info = "notices, " .. count
            return tvb:captured_len()
        end
        local digest = START + NOTICE * count
        if not common.has_bytes(tvb, pinfo, tree, ne, "notices, ", digest + 28) then
            return tvb:captured_len()
        end
        common.add_port(tree, n, ne, tvb(2, 1):uint())
        common.add_control_start(tree, n, ne, tvb)
        local parts = {}
        for i = 0, count - 1 do
            parts[#parts + 1] = add_notice(tree, tvb(START + NOTICE * i, NOTICE), i)
        end
        tree:add(n.digest, tvb(digest, 8))
        common.add_control_end(tree, n, ne, tvb, digest + 8)
        pinfo.cols.info = string.format("notices, %d%s%s, digest %s", count, count > 0 and ": " or "",
            table.concat(parts, ", "), tostring(tvb(digest, 8):bytes()):lower())
        return tvb:captured_len()
    end

    return notice
end
