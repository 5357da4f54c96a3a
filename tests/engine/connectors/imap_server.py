"""A small IMAP server on loopback, whose faults a test decides."""

import re
from dataclasses import dataclass, field

import trio

PASSWORD = "canary-secret"


@dataclass
class ImapServer:
    """`mails`: contents by UID. `marks`: what clients did to them. `on(words, stream)`: true if it answered itself."""

    port: int = 0
    mails: dict[str, bytes] = field(default_factory=dict)
    marks: list[tuple[str, str]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    said_sizes: dict[str, int] = field(default_factory=dict)
    validity: int = 1
    capabilities: str = "IMAP4rev1"
    on = None

    async def handle(self, stream):
        try:
            await stream.send_all(b"* OK ready\r\n")
            buffer = b""
            while data := await stream.receive_some():
                buffer += data
                while b"\r\n" in buffer:
                    line, _, buffer = buffer.partition(b"\r\n")
                    tag, _, words = line.decode().partition(" ")
                    if self.on is None or not await self.on(words, stream):
                        said = self._answer(words)
                        await stream.send_all(b"".join(said) + tag.encode() + b" " + self._end(words) + b"\r\n")
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            await stream.aclose()

    def _end(self, words):
        is_refused = words.startswith("LOGIN") and PASSWORD not in words
        return b"NO no such account" if is_refused else b"OK done"

    def _answer(self, words):
        verb, *rest = words.split(" ")
        if verb == "CAPABILITY":
            yield f"* CAPABILITY {self.capabilities}\r\n".encode()
        elif verb == "SELECT":
            yield f"* {len(self.mails)} EXISTS\r\n* OK [UIDVALIDITY {self.validity}] valid\r\n".encode()
        elif verb == "LOGOUT":
            yield b"* BYE\r\n"
        elif verb == "UID":
            yield from self._uid(rest)

    def _uid(self, words):
        verb, uid, *rest = words
        if verb == "SEARCH":
            found = [each for each in self.mails if "ALL" in words or each not in self.seen]
            yield f"* SEARCH {' '.join(found)}\r\n".encode()
        elif verb == "FETCH" and "SIZE" in rest[0]:
            yield f"* 1 FETCH (UID {uid} RFC822.SIZE {self.said_sizes.get(uid, len(self.mails[uid]))})\r\n".encode()
        elif verb == "FETCH":
            content = self.mails[uid]
            yield f"* 1 FETCH (UID {uid} BODY[]<0> {{{len(content)}}}\r\n".encode() + content + b")\r\n"
        elif verb in ("STORE", "COPY", "MOVE", "EXPUNGE"):
            said = " ".join(rest)
            self.marks.append((uid, re.sub(r"\+FLAGS.SILENT ", "", said) or verb))
            if verb == "STORE":
                self.seen.add(uid)
                if "Deleted" in said:
                    del self.mails[uid]
