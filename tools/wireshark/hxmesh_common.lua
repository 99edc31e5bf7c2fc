-- hxmesh_common.lua - shared code of the dissectors: sizes, bits, checksum, experts, and fields of Wireshark's frame
-- and Ethernet dissectors. Returns a table. hxmesh.lua loads it; alone it does nothing.

local common = {
    HEADER = 64, -- bytes of a frame before the payload, Ethernet included
    ETHERNET = 14, -- bytes of these for the Ethernet dissector; other dissectors count offsets from there
    VERSION = 2,
    VCS = 4, -- most of a fabric
    CONTROL_KINDS = { [1] = "credit", [2] = "notices" },
    CRC_STATES = { [0] = "bad", [1] = "good", [2] = "not computed", [3] = "not checked" },
}

-- Lua 5.2 has no bit operators, but Wireshark adds the library `bit`. Later versions may lack that, but have operators.
local bit = bit or {
    band = load("return function(a, b) return a & b end")(),
    bxor = load("return function(a, b) return a ~ b end")(),
    rshift = load("return function(a, n) return (a & 0xFFFFFFFF) >> n end")(),
}
common.bit = bit

---- fields and expert information -----------------------------------------------------------------

-- The values of a table, as a list.
function common.values_of(named)
    local list = {}
    for _, value in pairs(named) do
        list[#list + 1] = value
    end
    return list
end

-- Adds the authentication tag if exactly as many bytes as it has follow the frame's own. Frames have at least 48 bytes,
-- so padding is shorter than that. The hash cannot be verified without the key. Returns whether there is a tag.
function common.add_auth_tag(tree, fields, tvb, at)
    local AUTH_TAG = 16
    if tvb:captured_len() ~= at + AUTH_TAG then
        return false
    end
    tree:add(fields.auth_tag_number, tvb(at, 8))
    tree:add(fields.auth_tag_hash, tvb(at + 8, 8))
    return true
end

function common.experts(prefix)
    local group, severity = expert.group, expert.severity
    local function malformed(name, text)
        return ProtoExpert.new(prefix .. name, text, group.MALFORMED, severity.ERROR)
    end
    return {
        short = malformed(".short", "Frame is too short"),
        version = malformed(".bad_version", "Unknown version"),
        reserved = malformed(".reserved_set", "Reserved bytes are not zero"),
        field = malformed(".bad_field", "Field out of range"),
        mac = malformed(".bad_mac", "MAC address contradicts the fields"),
        crc = ProtoExpert.new(prefix .. ".bad_crc", "CRC-32C is wrong", group.CHECKSUM, severity.ERROR),
        plane = ProtoExpert.new(prefix .. ".wrong_plane", "Plane is not that of the port",
            group.PROTOCOL, severity.WARN),
    }
end

---- fields of the frame and Ethernet dissectors ---------------------------------------------------

local frame_port = Field.new("frame.interface_name")
local frame_direction = Field.new("frame.packet_flags_direction")
common.frame_time = Field.new("frame.time_epoch")
common.frame_queue = Field.new("frame.interface_queue")
common.eth_dst = Field.new("eth.dst")
common.eth_src = Field.new("eth.src")

function common.text_of(extractor)
    local info = extractor()
    return info and tostring(info.value) or nil
end

function common.direction_of()
    local info = frame_direction()
    if not info then
        return ""
    end
    return info.value == 1 and "in" or info.value == 2 and "out" or ""
end

function common.bytes_of(extractor)
    local info = extractor()
    return info and info.range:bytes():tohex():lower() or nil
end

---- common parts of data and control frames -------------------------------------------------------

-- Whether the frame has `bytes` bytes; if not, says so in the info column behind `prefix`. e: experts.
function common.has_bytes(tvb, pinfo, tree, e, prefix, bytes)
    if tvb:reported_len() < bytes then
        pinfo.cols.info = prefix .. "too short"
        tree:add_proto_expert_info(e.short)
        return false
    end
    if tvb:captured_len() < bytes then
        pinfo.cols.info = prefix .. "cut short by the capture"
        return false
    end
    return true
end

-- Adds the port, if the capture names it, and checks the plane in its name. Returns the port. f: fields.
function common.add_port(tree, f, e, plane)
    local port = common.text_of(frame_port)
    if port then
        tree:add(f.port, port):set_generated()
        local named = port:match("/p(%d+)/")
        if named and tonumber(named) ~= plane then
            tree:add_proto_expert_info(e.plane)
        end
    end
    return port
end

-- Adds a checksum and its state, a key of CRC_STATES.
function common.add_crc(tree, f, e, range, state)
    local item = tree:add(f.crc, range)
    item:append_text(" (" .. common.CRC_STATES[state] .. ")")
    tree:add(f.crc_status, range, state):set_generated()
    if state == 0 then
        item:add_proto_expert_info(e.crc)
    end
end

function common.is_zero(range)
    return range:uint64() == UInt64(0)
end

-- Adds the fields that begin every control frame, and errors in them. f: fields, e: experts.
function common.add_control_start(tree, f, e, tvb)
    local plane = tvb(2, 1):uint()
    tree:add(f.version, tvb(0, 1))
    tree:add(f.kind, tvb(1, 1))
    tree:add(f.plane, tvb(2, 1))
    tree:add(f.items, tvb(3, 1))
    tree:add(f.reserved, tvb(4, 2))
    if tvb(0, 1):uint() ~= common.VERSION then
        tree:add_proto_expert_info(e.version)
    end
    if not common.CONTROL_KINDS[tvb(1, 1):uint()] then
        tree:add_proto_expert_info(e.field, "Unknown kind")
    end
    if plane > 3 then
        tree:add_proto_expert_info(e.field, "Plane is more than 3")
    end
    if tvb(4, 2):uint() ~= 0 then
        tree:add_proto_expert_info(e.reserved)
    end
    local dst, src = common.bytes_of(common.eth_dst), common.bytes_of(common.eth_src)
    local to, from = string.format("03%02xffffffff", plane), string.format("02%02xffffffff", plane)
    if dst and dst ~= to or src and src ~= from then
        tree:add_proto_expert_info(e.mac)
    end
end

-- Adds the nonces and the checksum that end every control frame, and an authentication tag behind it.
function common.add_control_end(tree, f, e, tvb, nonces)
    tree:add(f.nonce, tvb(nonces, 8))
    tree:add(f.peer_nonce, tvb(nonces + 8, 8))
    local crc = tvb(nonces + 16, 4)
    common.add_crc(tree, f, e, crc, common.crc32c(tvb(0, nonces + 16):bytes()) == crc:uint() and 1 or 0)
    common.add_auth_tag(tree, f, tvb, nonces + 20)
    if common.is_zero(tvb(nonces, 8)) then
        tree:add_proto_expert_info(e.field, "Nonce is 0")
    end
end

---- CRC-32C ---------------------------------------------------------------------------------------

local crc_table

local function make_crc_table()
    crc_table = {}
    for byte = 0, 255 do
        local crc = byte
        for _ = 1, 8 do
            local carry = bit.band(crc, 1) == 1
            crc = bit.rshift(crc, 1)
            if carry then
                crc = bit.bxor(crc, 0x82F63B78)
            end
        end
        crc_table[byte] = crc
    end
end

function common.crc32c(bytes)
    if not crc_table then
        make_crc_table()
    end
    local crc = 0xFFFFFFFF
    for i = 0, bytes:len() - 1 do
        local index = bit.band(bit.bxor(crc, bytes:get_index(i)), 0xFF)
        crc = bit.bxor(bit.rshift(crc, 8), crc_table[index])
    end
    return bit.bxor(crc, 0xFFFFFFFF) % 0x100000000
end

return common
