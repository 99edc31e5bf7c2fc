/* mailbox.hh - which receive gets which message.
 *
 * As in ASTRA-sim's other back ends: among messages of one sender, receiver, tag and size, the n-th that is sent
 * belongs to the n-th receive. Either may come first, and messages may arrive in another order than sent. */
#ifndef ASTRA_HXMESH_MAILBOX_HH
#define ASTRA_HXMESH_MAILBOX_HH

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace astra_hxmesh
{

/* A handler of ASTRA-sim with its argument. */
struct Callback {
    void (*function)(void *);
    void *argument;

    void operator()() const
    {
        function(argument);
    }
};

class Mailbox
{
  public:
    struct Key {
        int from, to; /* NPUs */
        int tag;
        uint64_t bytes;

        bool operator<(const Key &other) const
        {
            return std::tie(from, to, tag, bytes) < std::tie(other.from, other.to, other.tag, other.bytes);
        }
    };

    /* Returns the number of the message among those of its key. */
    uint64_t send(const Key &key);

    /* Returns the number of the message if it is there already; otherwise `received` is kept until it arrives. */
    std::optional<uint64_t> receive(const Key &key, const Callback &received);

    /* Whether a receive waits for a message that is not sent yet. */
    bool is_awaited(const Key &key) const;

    /* Message `number` has arrived: returns the callback of its receive, if that has been posted. */
    std::optional<Callback> arrive(const Key &key, uint64_t number);

    /* Says what is left without its counterpart; "": nothing. */
    std::string unmatched() const;

  private:
    struct Line {
        uint64_t sent = 0, received = 0;
        /* By number: receives that wait, and messages that arrived before their receive (none). */
        std::map<uint64_t, std::optional<Callback>> open;
    };

    /* Forgets a line in which all is done: tags of collectives are not used again. */
    void close(std::map<Key, Line>::iterator line);

    std::map<Key, Line> lines;
};

} // namespace astra_hxmesh

#endif
