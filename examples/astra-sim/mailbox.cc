/* mailbox.cc - which receive gets which message (mailbox.hh). */
#include "mailbox.hh"

namespace astra_hxmesh
{

uint64_t Mailbox::send(const Key &key)
{
    return lines[key].sent++;
}

std::optional<uint64_t> Mailbox::receive(const Key &key, const Callback &received)
{
    const auto line = lines.try_emplace(key).first;
    const uint64_t number = line->second.received++;
    if (line->second.open.try_emplace(number, received).second)
        return std::nullopt;
    line->second.open.erase(number);
    close(line);
    return number;
}

bool Mailbox::is_awaited(const Key &key) const
{
    const auto line = lines.find(key);
    return line != lines.end() && line->second.received > line->second.sent;
}

std::optional<Callback> Mailbox::arrive(const Key &key, uint64_t number)
{
    const auto line = lines.find(key);
    const auto [place, is_first] = line->second.open.try_emplace(number, std::nullopt);
    if (is_first)
        return std::nullopt;
    const std::optional<Callback> received = place->second;
    line->second.open.erase(place);
    close(line);
    return received;
}

void Mailbox::close(std::map<Key, Line>::iterator line)
{
    if (line->second.open.empty() && line->second.sent == line->second.received)
        lines.erase(line);
}

static std::string counted(uint64_t number, const char *what)
{
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string Mailbox::unmatched() const
{
    uint64_t sends = 0, receives = 0;
    const Key *first = nullptr;
    for (const auto &[key, line] : lines) {
        if (line.sent == line.received)
            continue;
        if (!first)
            first = &key;
        if (line.sent > line.received)
            sends += line.sent - line.received;
        else
            receives += line.received - line.sent;
    }
    if (!first)
        return "";
    return counted(sends, "message") + " without a receive, " + counted(receives, "receive") +
           " without a message; the first: from NPU " + std::to_string(first->from) + " to NPU " +
           std::to_string(first->to) + ", tag " + std::to_string(first->tag) + ", " + std::to_string(first->bytes) +
           " bytes";
}

} // namespace astra_hxmesh
