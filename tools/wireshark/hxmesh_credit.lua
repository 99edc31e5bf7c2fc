-- hxmesh_credit.lua - dissects credit frames, EtherType 0x88B6. Returns a function that makes the dissector. hxmesh.lua
-- calls it; alone it does nothing.

return function(common, prefs)
    local COUNTS = 6 -- bytes between the Ethernet header and the first pair of counts
    local credit = Proto("hxmesh_credit", "HammingMesh credit")

    local c = {
        version = ProtoField.uint8("hxmesh_credit.version", "Version"),
        kind = ProtoField.uint8("hxmesh_credit.kind", "Kind", base.DEC, common.CONTROL_KINDS),
        plane = ProtoField.uint8("hxmesh_credit.plane", "Plane"),
        items = ProtoField.uint8("hxmesh_credit.vcs", "VCs"),
        reserved = ProtoField.bytes("hxmesh_credit.reserved", "Reserved"),
        limit = ProtoField.uint32("hxmesh_credit.limit", "Limit"),
        sent = ProtoField.uint32("hxmesh_credit.sent", "Sent"),
        nonce = ProtoField.uint64("hxmesh_credit.nonce", "Nonce", base.HEX),
        peer_nonce = ProtoField.uint64("hxmesh_credit.peer_nonce", "Peer nonce", base.HEX),
        crc = ProtoField.uint32("hxmesh_credit.crc", "CRC-32C", base.HEX),
        crc_status = ProtoField.uint8("hxmesh_credit.crc.status", "CRC status", base.DEC, common.CRC_STATES),
        auth_tag_number = ProtoField.uint64("hxmesh_credit.seal.number", "Number of the authentication tag"),
        auth_tag_hash = ProtoField.uint64("hxmesh_credit.seal.hash", "Hash of the authentication tag", base.HEX),
        port = ProtoField.string("hxmesh_credit.port", "Port"),
    }
    credit.fields = common.values_of(c)

    local ce = common.experts("hxmesh_credit")
    ce.unknown = ProtoExpert.new("hxmesh_credit.peer_unknown", "The sender does not know its peer",
        expert.group.SEQUENCE, expert.severity.CHAT)
    ce.session = ProtoExpert.new("hxmesh_credit.new_session", "A new session begins",
        expert.group.SEQUENCE, expert.severity.NOTE)
    credit.experts = common.values_of(ce)

    local sessions, renewed -- port and direction: nonce; frame: whether a session began

    local function forget()
        sessions, renewed = {}, {}
    end
    forget()
    credit.init = forget

    -- Number of pairs of counts, one for each VC; the offset of the nonces behind them. The CRC follows.
    local function vcs_of(tvb)
        return tvb(3, 1):uint()
    end

    local function nonces_of(tvb)
        return 6 + 8 * vcs_of(tvb)
    end

    -- A sender without a peer, or in reply to an unknown peer, sends no limits; such a frame begins no session.
    local function has_counts(tvb)
        for vc = 0, vcs_of(tvb) - 1 do
            if tvb(6 + 8 * vc, 4):uint() ~= 0 then
                return true
            end
        end
        return false
    end

    local function check_session(tree, tvb, pinfo, port, direction)
        local nonce = tostring(tvb(nonces_of(tvb), 8):bytes())
        if common.is_zero(tvb(nonces_of(tvb) + 8, 8)) then
            tree:add_proto_expert_info(ce.unknown)
        end
        if not prefs.analyse then
            return
        end
        if renewed[pinfo.number] == nil and has_counts(tvb) then
            local key = (port or "") .. direction
            renewed[pinfo.number] = sessions[key] ~= nil and sessions[key] ~= nonce
            sessions[key] = nonce
        end
        if renewed[pinfo.number] then
            tree:add_proto_expert_info(ce.session)
        end
    end

    function credit.dissector(tvb, pinfo, root)
        pinfo.cols.protocol = "HXMESH"
        local tree = root:add(credit, tvb())
        if not common.has_bytes(tvb, pinfo, tree, ce, "credit, ", COUNTS) then
            return tvb:captured_len()
        end
        if vcs_of(tvb) == 0 or vcs_of(tvb) > common.VCS then
            tree:add_proto_expert_info(ce.field, "VCs is not 1 to 4")
            pinfo.cols.info = "credit, of " .. vcs_of(tvb) .. " VCs"
            return tvb:captured_len()
        end
        local nonces = nonces_of(tvb)
        if not common.has_bytes(tvb, pinfo, tree, ce, "credit, ", nonces + 20) then
            return tvb:captured_len()
        end
        local port = common.add_port(tree, c, ce, tvb(2, 1):uint())
        common.add_control_start(tree, c, ce, tvb)
        local parts = {}
        for vc = 0, vcs_of(tvb) - 1 do
            local pair = tree:add(credit, tvb(6 + 8 * vc, 8), "VC " .. vc)
            pair:add(c.limit, tvb(6 + 8 * vc, 4))
            pair:add(c.sent, tvb(10 + 8 * vc, 4))
            parts[#parts + 1] = string.format("%d/%d", tvb(10 + 8 * vc, 4):uint(), tvb(6 + 8 * vc, 4):uint())
        end
        common.add_control_end(tree, c, ce, tvb, nonces)
        check_session(tree, tvb, pinfo, port, common.direction_of())
        pinfo.cols.info = "credit, sent/limit by VC: " .. table.concat(parts, " ") ..
            ", nonce " .. tostring(tvb(nonces, 8):bytes()):lower()
        return tvb:captured_len()
    end

    return credit
end
