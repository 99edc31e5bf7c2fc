-- hxmesh.lua - dissects the frames of HammingMesh links (docs/wire-format.md) in Wireshark and tshark, 4.0 and later.
--
--     tshark -X lua_script:hxmesh.lua -r run.pcapng
--     tshark -X lua_script:hxmesh.lua -X lua_script1:stats -q -r run.pcapng      frames by port, direction and VC
--     cp hxmesh*.lua ~/.local/lib/wireshark/plugins/                             installs it, for Wireshark too
--
-- It needs the other parts, hxmesh_*.lua, in the same folder.
--
-- Fields begin with hxmesh. (data), hxmesh_credit. and hxmesh_notice. (control). A message is a stream:
-- hxmesh.stream == 3 shows its packets, acknowledgements and reports. hxmesh.previous leads to the frame where the
-- packet was seen before.

local ARGUMENTS = { ... }

local FOLDER = __DIR__:match("^(.-)[/\\]*$") .. "/"
local common = dofile(FOLDER .. "hxmesh_common.lua")
local bit, HEADER, ETHERNET, VCS, CRC_STATES = common.bit, common.HEADER, common.ETHERNET, common.VCS, common.CRC_STATES
local PACKET = 8192
local NO_CREDIT = 255
local DATA, ACK, UNREACHABLE, PROBE, HELLO = 1, 2, 3, 4, 5

local data = Proto("hxmesh", "HammingMesh data")

data.prefs.check_crc = Pref.bool("Check the CRC-32C", false,
    "Of frames that were captured whole; takes about a millisecond a frame")
data.prefs.analyse = Pref.bool("Analyse messages", true,
    "Number messages, find repeats, pair data with acknowledgements, follow packets from port to port")

local KINDS = {
    [DATA] = "data", [ACK] = "acknowledgement", [UNREACHABLE] = "unreachable", [PROBE] = "probe", [HELLO] = "hello",
}

---- fields ----------------------------------------------------------------------------------------

local f = {
    version = ProtoField.uint8("hxmesh.version", "Version"),
    vc = ProtoField.uint8("hxmesh.vc", "VC"),
    hops = ProtoField.uint8("hxmesh.hops", "Hops"),
    credit_vc = ProtoField.uint8("hxmesh.credit_vc", "Credit VC"),
    via = ProtoField.uint16("hxmesh.via", "Via"),
    credit_limit = ProtoField.uint32("hxmesh.credit_limit", "Credit limit"),
    crc = ProtoField.uint32("hxmesh.crc", "CRC-32C", base.HEX),
    crc_status = ProtoField.uint8("hxmesh.crc.status", "CRC status", base.DEC, CRC_STATES),
    kind = ProtoField.uint8("hxmesh.kind", "Kind", base.DEC, KINDS),
    plane = ProtoField.uint8("hxmesh.plane", "Plane"),
    job = ProtoField.uint16("hxmesh.job", "Job"),
    dst_addr_hi = ProtoField.uint16("hxmesh.dst_addr_hi", "Destination addr_hi (gx)"),
    dst_addr_lo = ProtoField.uint16("hxmesh.dst_addr_lo", "Destination addr_lo (gy)"),
    src_addr_hi = ProtoField.uint16("hxmesh.src_addr_hi", "Source addr_hi (gx)"),
    src_addr_lo = ProtoField.uint16("hxmesh.src_addr_lo", "Source addr_lo (gy)"),
    -- Names of the version before, for filters; hidden.
    old_dst_addr_hi = ProtoField.uint16("hxmesh.dst_d0", "Destination d0"),
    old_dst_addr_lo = ProtoField.uint16("hxmesh.dst_d1", "Destination d1"),
    old_src_addr_hi = ProtoField.uint16("hxmesh.src_d0", "Source d0"),
    old_src_addr_lo = ProtoField.uint16("hxmesh.src_d1", "Source d1"),
    src = ProtoField.string("hxmesh.src", "Source"),
    dst = ProtoField.string("hxmesh.dst", "Destination"),
    message = ProtoField.uint32("hxmesh.message", "Message"),
    offset = ProtoField.uint32("hxmesh.offset", "Offset"),
    packets = ProtoField.uint32("hxmesh.message_packets", "Message packets"),
    length = ProtoField.uint16("hxmesh.length", "Length"),
    blocks = ProtoField.uint8("hxmesh.blocks", "Blocks"),
    epoch = ProtoField.uint32("hxmesh.epoch", "Epoch", base.HEX),
    peer_epoch = ProtoField.uint16("hxmesh.peer_epoch", "Check of the peer's epoch", base.HEX),
    tag = ProtoField.uint32("hxmesh.tag", "Tag", base.HEX),
    payload = ProtoField.bytes("hxmesh.payload", "Payload"),
    auth_tag_number = ProtoField.uint64("hxmesh.seal.number", "Number of the authentication tag"),
    auth_tag_hash = ProtoField.uint64("hxmesh.seal.hash", "Hash of the authentication tag", base.HEX),
    padding = ProtoField.bytes("hxmesh.padding", "Padding"),
    received = ProtoField.string("hxmesh.received", "Received beyond the gap"),
    to_gx = ProtoField.uint16("hxmesh.unreachable_gx", "Unreachable gx"),
    to_gy = ProtoField.uint16("hxmesh.unreachable_gy", "Unreachable gy"),
    lost_kind = ProtoField.uint8("hxmesh.unreachable_kind", "Kind of the packet", base.DEC, KINDS),
    asks = ProtoField.uint64("hxmesh.nonce", "Asks with nonce", base.HEX),
    answers = ProtoField.uint64("hxmesh.answered_nonce", "Answers nonce", base.HEX),
    port = ProtoField.string("hxmesh.port", "Port"),
    direction = ProtoField.string("hxmesh.direction", "Direction"),
    packet = ProtoField.string("hxmesh.packet", "Packet"), -- as `hxmesh trace --packet` takes it
    stream = ProtoField.uint32("hxmesh.stream", "Message stream"),
    previous = ProtoField.framenum("hxmesh.previous", "This packet was seen before in"),
    previous_time = ProtoField.relative_time("hxmesh.previous_time", "Time since it was seen before"),
    repeated = ProtoField.framenum("hxmesh.retransmission_of", "Retransmission of", base.NONE, frametype.RETRANS_PREV),
    response_in = ProtoField.framenum("hxmesh.acknowledged_in", "Acknowledged in", base.NONE, frametype.RESPONSE),
    response_to = ProtoField.framenum("hxmesh.acknowledges", "Acknowledges data up to", base.NONE, frametype.REQUEST),
    response_time = ProtoField.relative_time("hxmesh.acknowledgement_time", "Time since that data was injected"),
}
data.fields = common.values_of(f)

---- expert information ----------------------------------------------------------------------------

local group, severity = expert.group, expert.severity
local e = common.experts("hxmesh")
e.repeated = ProtoExpert.new("hxmesh.retransmission", "Sent again", group.SEQUENCE, severity.NOTE)
e.doubled = ProtoExpert.new("hxmesh.doubled", "Seen again at the same port, with the same hops, but not at its source",
    group.SEQUENCE, severity.WARN)
e.unreachable = ProtoExpert.new("hxmesh.found_no_way", "A packet found no path to its destination",
    group.RESPONSE_CODE, severity.WARN)
e.gap = ProtoExpert.new("hxmesh.gap", "The receiver lacks packets", group.SEQUENCE, severity.NOTE)
e.queue = ProtoExpert.new("hxmesh.queue_differs", "The capture's queue is not the VC", group.PROTOCOL, severity.NOTE)
e.injected = ProtoExpert.new("hxmesh.odd_injection", "Injected with hops or a VC", group.PROTOCOL, severity.WARN)
data.experts = common.values_of(e)

---- analysis of messages and packets --------------------------------------------------------------
-- Collected at the first pass over the file, and kept by frame number for later passes.

local streams, stream_count, latest, injected, doubles, results

local function forget()
    streams, stream_count = {}, 0 -- message: { number, data = { offset: frame, time } }
    latest = {} -- packet: { frame, time } where it was seen last
    injected = {} -- packet: number of times seen at its source
    doubles = {} -- packet at a port: number of times seen
    results = {} -- frame: results
end
forget()
data.init = forget

-- The check of a peer's epoch that a header has room for.
local function check_of(epoch)
    local folded = bit.band(bit.bxor(epoch, bit.rshift(epoch, 16)), 0xFFFF)
    return epoch ~= 0 and folded == 0 and 0xFFFF or folded
end

local function message_of(h)
    local key
    if h.kind == DATA or h.kind == PROBE then
        key = string.format("%d,%d>%d,%d j%d e%d m%d", h.src_addr_hi, h.src_addr_lo, h.dst_addr_hi, h.dst_addr_lo,
            h.job, check_of(h.epoch), h.message)
    else
        key = string.format("%d,%d>%d,%d j%d e%d m%d", h.dst_addr_hi, h.dst_addr_lo, h.src_addr_hi, h.src_addr_lo,
            h.job, h.peer_epoch, h.message)
    end
    local m = streams[key]
    if not m then
        m = { number = stream_count, data = {} }
        streams[key] = m
        stream_count = stream_count + 1
    end
    return m
end

-- Notes data at its source: the first sending of an offset, or a repeat.
local function note_data(found, m, h, frame, time)
    local first = m.data[h.offset]
    if not first then
        m.data[h.offset] = { frame = frame, time = time }
    elseif first.frame ~= frame then
        found.repeated = first.frame
    end
end

-- Notes an acknowledgement at its source: it acknowledges the data below its offset.
local function note_ack(found, m, h, frame, time)
    local last = h.offset > 0 and m.data[h.offset - 1]
    if not last then
        return
    end
    found.response_to = last.frame
    found.response_time = time - last.time
    for offset = h.offset - 1, 0, -1 do
        local packet = m.data[offset]
        if not packet or packet.answered then
            break
        end
        packet.answered = frame
        if results[packet.frame] then
            results[packet.frame].response_in = frame
        end
    end
end

local function analyse(pinfo, h, packet, port, direction)
    local frame = pinfo.number
    if results[frame] then
        return results[frame]
    end
    local found = {}
    results[frame] = found
    local time = common.frame_time().value
    local m = h.kind ~= HELLO and message_of(h)
    found.stream = m and m.number
    local at_source = h.hops == 0 and direction ~= "out"
    local before = latest[packet]
    if before then
        found.previous = before.frame
        found.previous_time = time - before.time
    end
    latest[packet] = { frame = frame, time = time }
    if at_source and h.kind == DATA then
        note_data(found, m, h, frame, time)
    elseif at_source and h.kind == ACK then
        note_ack(found, m, h, frame, time)
    end
    if at_source then
        injected[packet] = (injected[packet] or 0) + 1
    elseif port then
        local key = packet .. port .. direction .. h.hops
        doubles[key] = (doubles[key] or 0) + 1
        found.doubled = injected[packet] and doubles[key] > injected[packet]
    end
    return found
end

---- data frames -----------------------------------------------------------------------------------

local function read_header(tvb)
    local kind, payload = tvb(14, 1):uint(), HEADER - ETHERNET
    return {
        lost_kind = kind == UNREACHABLE and tvb:captured_len() >= payload + 5 and tvb(payload + 4, 1):uint() or nil,
        vc = tvb(1, 1):uint(),
        hops = tvb(2, 1):uint(),
        credit_vc = tvb(3, 1):uint(),
        credit_limit = tvb(6, 4):uint(),
        crc = tvb(10, 4):uint(),
        kind = kind,
        plane = tvb(15, 1):uint(),
        job = tvb(16, 2):uint(),
        dst_addr_hi = tvb(18, 2):uint(),
        dst_addr_lo = tvb(20, 2):uint(),
        src_addr_hi = tvb(22, 2):uint(),
        src_addr_lo = tvb(24, 2):uint(),
        message = tvb(26, 4):uint(),
        offset = tvb(30, 4):uint(),
        packets = tvb(34, 4):uint(),
        length = tvb(38, 2):uint(),
        peer_epoch = tvb(40, 2):uint(),
        epoch = tvb(46, 4):uint(),
    }
end

local function mac_of(plane, gx, gy)
    return string.format("02%02x%04x%04x", plane, gx, gy)
end

local function check_mac(item, h)
    local dst, src = common.bytes_of(common.eth_dst), common.bytes_of(common.eth_src)
    if dst and dst ~= mac_of(h.plane, h.dst_addr_hi, h.dst_addr_lo) then
        item:add_proto_expert_info(e.mac,
            string.format("Destination MAC is not that of a%d,%d on plane %d", h.dst_addr_hi, h.dst_addr_lo, h.plane))
    end
    if src and src ~= mac_of(h.plane, h.src_addr_hi, h.src_addr_lo) then
        item:add_proto_expert_info(e.mac,
            string.format("Source MAC is not that of a%d,%d on plane %d", h.src_addr_hi, h.src_addr_lo, h.plane))
    end
end

local function wrong_length(h)
    if h.length > PACKET then
        return "more than 8192 bytes"
    elseif h.kind == UNREACHABLE and h.length ~= 5 then
        return "an unreachable report has 5 bytes"
    elseif h.kind == PROBE and h.length ~= 0 then
        return "a probe has none"
    elseif h.kind == HELLO and h.length ~= 16 then
        return "a hello has 16 bytes"
    elseif h.kind == DATA and h.offset + 1 < h.packets and h.length ~= PACKET then
        return "only the last packet of a message may be short"
    end
end

local function wrong_offset(h)
    if h.kind == HELLO then
        return (h.offset ~= 0 or h.packets ~= 0) and "a hello is of no message" or nil
    elseif h.packets == 0 then
        return "a message of 0 packets"
    elseif h.kind == PROBE then
        return (h.offset == 0 or h.offset > 255) and "probes have numbers from 1 to 255" or nil
    elseif h.kind == ACK and h.offset > h.packets then
        return "more acknowledged than there are packets"
    elseif h.kind ~= ACK and h.offset >= h.packets then
        return "beyond the message"
    end
end

local function add_link_fields(tree, tvb, h)
    local version = tree:add(f.version, tvb(0, 1))
    if tvb(0, 1):uint() ~= common.VERSION then
        version:add_proto_expert_info(e.version)
    end
    local vc = tree:add(f.vc, tvb(1, 1))
    if h.vc >= VCS then
        vc:add_proto_expert_info(e.field, "VC is more than 3")
    end
    tree:add(f.hops, tvb(2, 1))
    local credit_vc = tree:add(f.credit_vc, tvb(3, 1))
    if h.credit_vc == NO_CREDIT then
        credit_vc:append_text(" (none)")
    elseif h.credit_vc >= VCS then
        credit_vc:add_proto_expert_info(e.field, "Credit VC is neither a VC nor 255")
    end
    local via = tree:add(f.via, tvb(4, 2))
    if tvb(4, 2):uint() == 0 then
        via:append_text(" (no detour)")
    else
        via:append_text(" (router of addr_hi " .. tvb(4, 2):uint() - 1 .. ")")
    end
    local limit = tree:add(f.credit_limit, tvb(6, 4))
    if h.credit_vc ~= NO_CREDIT then
        limit:append_text(" blocks on VC " .. h.credit_vc)
    end
end

local function add_crc(tree, tvb, h)
    local state = 3
    if h.crc == 0 then
        state = 2
    elseif data.prefs.check_crc and tvb:captured_len() >= HEADER - ETHERNET + h.length then
        state = common.crc32c(tvb(14, 36 + h.length):bytes()) == h.crc and 1 or 0
    end
    common.add_crc(tree, f, e, tvb(10, 4), state)
end

local function add_address(tree, side, tvb)
    for _, half in ipairs({ { "_addr_hi", tvb(0, 2) }, { "_addr_lo", tvb(2, 2) } }) do
        tree:add(f[side .. half[1]], half[2])
        tree:add(f["old_" .. side .. half[1]], half[2]):set_hidden()
    end
end

local function add_end_fields(tree, tvb, h)
    local kind = tree:add(f.kind, tvb(14, 1))
    if not KINDS[h.kind] then
        kind:add_proto_expert_info(e.field, "Unknown kind")
    end
    local plane = tree:add(f.plane, tvb(15, 1))
    if h.plane > 3 then
        plane:add_proto_expert_info(e.field, "Plane is more than 3")
    end
    tree:add(f.job, tvb(16, 2))
    add_address(tree:add(f.dst, tvb(18, 4), h.dst), "dst", tvb(18, 4))
    add_address(tree:add(f.src, tvb(22, 4), h.src), "src", tvb(22, 4))
    tree:add(f.message, tvb(26, 4))
    local offset = tree:add(f.offset, tvb(30, 4))
    local wrong = wrong_offset(h)
    if wrong then
        offset:add_proto_expert_info(e.field, "Offset: " .. wrong)
    end
    tree:add(f.packets, tvb(34, 4))
    local length = tree:add(f.length, tvb(38, 2))
    wrong = wrong_length(h)
    if wrong then
        length:add_proto_expert_info(e.field, "Length: " .. wrong)
    end
    tree:add(f.blocks, tvb(38, 2), math.max(1, math.ceil(h.length / 256))):set_generated()
    local peer_epoch = tree:add(f.peer_epoch, tvb(40, 2))
    if h.peer_epoch == 0 then
        peer_epoch:append_text(" (not known)")
    end
    tree:add(f.tag, tvb(42, 4))
    local epoch = tree:add(f.epoch, tvb(46, 4))
    if h.epoch == 0 then
        epoch:add_proto_expert_info(e.field, "Epoch is 0")
    end
end

-- "7, 9-12": the packets that an acknowledgement's bit map has.
local function ranges(map, offset)
    local parts, first, last = {}, nil, nil
    local function close()
        if first then
            parts[#parts + 1] = first == last and tostring(first) or first .. "-" .. last
        end
    end
    for i = 0, map:len() * 8 - 1 do
        local byte = map:get_index(math.floor(i / 8))
        if bit.band(bit.rshift(byte, i % 8), 1) == 1 then
            if last ~= offset + i - 1 then
                close()
                first = offset + i
            end
            last = offset + i
        end
    end
    close()
    return table.concat(parts, ", ")
end

local function add_payload(tree, tvb, h)
    local at = HEADER - ETHERNET
    local there = math.min(h.length, tvb:captured_len() - at)
    if there <= 0 then
        return
    end
    local item = tree:add(f.payload, tvb(at, there))
    if h.kind == ACK then
        local text = ranges(tvb(at, there):bytes(), h.offset)
        local map = tree:add(f.received, tvb(at, there), text)
        if text ~= "" then
            map:add_proto_expert_info(e.gap, "Packet " .. h.offset .. " is missing at the receiver")
        end
    elseif h.kind == UNREACHABLE and there >= 5 then
        tree:add(f.to_gx, tvb(at, 2))
        tree:add(f.to_gy, tvb(at + 2, 2))
        tree:add(f.lost_kind, tvb(at + 4, 1))
        item:add_proto_expert_info(e.unreachable)
    elseif h.kind == HELLO and there >= 16 then
        tree:add(f.asks, tvb(at, 8))
        tree:add(f.answers, tvb(at + 8, 8))
    end
end

local function add_trailer(tree, tvb, h)
    local at = HEADER - ETHERNET + h.length
    if not common.add_auth_tag(tree, f, tvb, at) and tvb:captured_len() > at then
        tree:add(f.padding, tvb(at, tvb:captured_len() - at))
    end
end

-- "SRC,DST,MESSAGE,PACKET" for `hxmesh trace --packet`. Replies have the name of their data; "*": any packet.
local function name_of(h)
    if h.kind == ACK then
        return string.format("%s,%s,%d,*", h.dst, h.src, h.message)
    elseif h.kind == UNREACHABLE then
        return string.format("%s,%s,%d,%d", h.dst, h.src, h.message, h.offset)
    end
    if h.kind == PROBE then -- its offset is the number of the probe
        return string.format("%s,%s,%d,*", h.src, h.dst, h.message)
    end
    return string.format("%s,%s,%d,%d", h.src, h.dst, h.message, h.offset)
end

local function add_place(tree, h)
    local port, direction = common.add_port(tree, f, e, h.plane), common.direction_of()
    if port and port:match("/local$") and direction == "in" and (h.hops ~= 0 or h.vc ~= 0) then
        tree:add_proto_expert_info(e.injected)
    end
    if direction ~= "" then
        tree:add(f.direction, direction):set_generated()
    end
    if h.kind ~= HELLO then
        tree:add(f.packet, name_of(h)):set_generated()
    end
    local queue = common.frame_queue()
    if queue and queue.value ~= h.vc then
        tree:add_proto_expert_info(e.queue)
    end
    return port, direction
end

local function add_analysis(tree, found)
    if found.stream then
        tree:add(f.stream, found.stream):set_generated()
    end
    if found.previous then
        tree:add(f.previous, found.previous):set_generated()
        tree:add(f.previous_time, found.previous_time):set_generated()
    end
    if found.repeated then
        local item = tree:add(f.repeated, found.repeated)
        item:set_generated()
        item:add_proto_expert_info(e.repeated)
    end
    if found.doubled then
        tree:add_proto_expert_info(e.doubled)
    end
    if found.response_to then
        tree:add(f.response_to, found.response_to):set_generated()
        tree:add(f.response_time, found.response_time):set_generated()
    end
    if found.response_in then
        tree:add(f.response_in, found.response_in):set_generated()
    end
end

local function info_of(h, found)
    local what
    if h.kind == ACK then
        what = string.format("acknowledgement of message %d: %d of %d packets", h.message, h.offset, h.packets)
    elseif h.kind == UNREACHABLE then
        what = h.lost_kind == DATA and string.format("no path for packet %d of message %d", h.offset, h.message) or
            string.format("no path for %s of message %d", KINDS[h.lost_kind] or "a packet", h.message)
    elseif h.kind == PROBE then
        what = string.format("probe %d of message %d", h.offset, h.message)
    elseif h.kind == HELLO then
        what = "hello"
    else
        what = string.format("message %d packet %d/%d, %d bytes", h.message, h.offset, h.packets, h.length)
    end
    return string.format("%s > %s %s, VC %d, hops %d%s", h.src, h.dst, what, h.vc, h.hops,
        found.repeated and " [sent again]" or "")
end

function data.dissector(tvb, pinfo, root)
    pinfo.cols.protocol = "HXMESH"
    local tree = root:add(data, tvb())
    if not common.has_bytes(tvb, pinfo, tree, e, "", HEADER - ETHERNET) then
        if tvb:captured_len() > 0 then
            tree:add(f.version, tvb(0, 1))
        end
        return tvb:captured_len()
    end
    local h = read_header(tvb)
    h.src = string.format("a%d,%d", h.src_addr_hi, h.src_addr_lo)
    h.dst = string.format("a%d,%d", h.dst_addr_hi, h.dst_addr_lo)
    local port, direction = add_place(tree, h)
    add_link_fields(tree, tvb, h)
    add_crc(tree, tvb, h)
    add_end_fields(tree, tvb, h)
    check_mac(tree, h)
    if tvb:reported_len() < HEADER - ETHERNET + h.length then
        tree:add_proto_expert_info(e.short, "The frame ends before its payload")
    end
    add_payload(tree, tvb, h)
    add_trailer(tree, tvb, h)
    local found = {}
    if data.prefs.analyse then
        found = analyse(pinfo, h, tvb(10, 40):raw(), port, direction)
        add_analysis(tree, found)
    end
    pinfo.cols.info = info_of(h, found)
    tree:append_text(string.format(", %s, %s to %s, message %d, offset %d, VC %d", KINDS[h.kind] or "?", h.src, h.dst,
        h.message, h.offset, h.vc))
    return tvb:captured_len()
end

DissectorTable.get("ethertype"):add(0x88B5, data)

-- Control frames: each kind has its dissector. An unknown kind is an error of a credit frame.
local credit = dofile(FOLDER .. "hxmesh_credit.lua")(common, data.prefs)
local notice = dofile(FOLDER .. "hxmesh_notice.lua")(common)
local control = Proto("hxmesh_control", "HammingMesh control")

function control.dissector(tvb, pinfo, root)
    local is_notice = tvb:captured_len() > 1 and tvb(1, 1):uint() == 2
    return (is_notice and notice or credit).dissector(tvb, pinfo, root)
end

DissectorTable.get("ethertype"):add(0x88B6, control)
dofile(FOLDER .. "hxmesh_statistics.lua")(ARGUMENTS)
