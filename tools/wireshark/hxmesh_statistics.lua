-- hxmesh_statistics.lua - counts frames by port, direction and VC: in Wireshark's Statistics menu, and at the end of
-- tshark on request. Returns a function. hxmesh.lua calls it; alone it does nothing.

return function(arguments)
    local stat_port = Field.new("frame.interface_name")
    local stat_direction = Field.new("frame.packet_flags_direction")
    local stat_vc = Field.new("hxmesh.vc")
    local stat_length = Field.new("hxmesh.length")
    local stat_repeat = Field.new("hxmesh.retransmission_of")

    local function new_counts()
        local rows, order = {}, {}
        local function row_of(key)
            if not rows[key] then
                rows[key] = { data = 0, credit = 0, bytes = 0, repeats = 0 }
                order[#order + 1] = key
            end
            return rows[key]
        end
        local counts = {}
        function counts.add()
            local port = stat_port() and tostring(stat_port().value) or "?"
            local flags = stat_direction() and stat_direction().value or 0
            local vc = stat_vc()
            local name = flags == 1 and "in" or flags == 2 and "out" or "?"
            local key = string.format("%-20s %-4s %-3s", port, name, vc and tostring(vc.value) or "-")
            local row = row_of(key)
            if vc then
                row.data = row.data + 1
                row.bytes = row.bytes + (stat_length() and stat_length().value or 0)
                row.repeats = row.repeats + (stat_repeat() and 1 or 0)
            else
                row.credit = row.credit + 1
            end
        end
        function counts.text()
            table.sort(order)
            local head = "%-20s %-4s %-3s %10s %10s %14s %10s"
            local lines = { head:format("port", "way", "VC", "data", "credit", "payload bytes", "sent again") }
            for _, key in ipairs(order) do
                local row = rows[key]
                lines[#lines + 1] = string.format("%s %10d %10d %14d %10d", key, row.data, row.credit, row.bytes,
                    row.repeats)
            end
            return table.concat(lines, "\n")
        end
        function counts.clear()
            rows, order = {}, {}
        end
        return counts
    end

    local function listen(show)
        local counts = new_counts()
        local listener = Listener.new("frame", "hxmesh || hxmesh_credit")
        function listener.packet()
            counts.add()
        end
        function listener.draw()
            show(counts.text())
        end
        function listener.reset()
            counts.clear()
        end
        return listener
    end

    for _, argument in ipairs(arguments) do
        if argument == "stats" then
            listen(print)
        end
    end

    if gui_enabled() then
        register_menu("HammingMesh/Frames by port and VC", function()
            local window = TextWindow.new("HammingMesh: frames by port and VC")
            local listener = listen(function(text)
                window:set(text)
            end)
            window:set_atclose(function()
                listener:remove()
            end)
            retap_packets()
        end, MENU_STAT_UNSORTED)
    end
end
