/* note.h - a note of the datapath as text, for the comment of a packet.
 *
 *     in W vc 0, out N vc 1: most room. candidates E 12 packets, N 16; 15 left on N
 *     in local vc 0, out E vc 1: its turn. candidates E 16 packets, W 16, S 3 (reserved for waiting packets);
 *     15 left on E */
#ifndef CAPTURE_NOTE_H
#define CAPTURE_NOTE_H

#include "fabric-emu/capture/ports.h"
#include "hal/tap_ring.h"

enum { CAPTURE_NOTE_BYTES = 1024 };

const char *capture_note_print(char text[CAPTURE_NOTE_BYTES], const struct hx_fabric *g,
                               const struct capture_port *port, const struct hx_tap_note *note, unsigned vc);

#endif
