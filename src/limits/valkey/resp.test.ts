import { describe, expect, test } from "bun:test";
import { array, assert, constant, integer, letrec, nat, oneof, property, string } from "fast-check";
import { encodeCommand, type Reply, ReplyError, ReplyReader } from "./resp.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** A reply as a server writes it. */
function written(reply: Reply): string {
  if (reply === null) return "$-1\r\n";
  if (typeof reply === "number") return `:${reply}\r\n`;
  if (typeof reply === "string") return `$${bytes(reply).length}\r\n${reply}\r\n`;
  if (reply instanceof ReplyError) return `-${reply.message}\r\n`;
  return `*${reply.length}\r\n${reply.map(written).join("")}`;
}

const { anyReply } = letrec<{ anyReply: Reply; leaf: Reply }>((tie) => ({
  leaf: oneof(
    integer(),
    constant(Number.MAX_SAFE_INTEGER),
    string({ unit: "grapheme" }),
    constant(null),
    constant(new ReplyError("NOSCRIPT No matching script.")),
  ),
  anyReply: oneof({ maxDepth: 3 }, tie("leaf"), array(tie("anyReply"), { maxLength: 5 })),
}));

describe("replies", () => {
  test("are the same however they are cut into pieces", () => {
    assert(
      property(array(anyReply), array(nat()), (replies, cuts) => {
        const all = bytes(replies.map(written).join(""));
        const at = [...cuts.map((cut) => cut % (all.length + 1)), all.length].toSorted((a, b) => a - b);
        const reader = new ReplyReader();
        // The memory of a piece is used again as soon as it was read.
        const read = at.flatMap((end, index) => {
          const piece = all.slice(at[index - 1] ?? 0, end);
          const complete = reader.read(piece);
          piece.fill(0);
          return complete;
        });
        expect(read).toEqual(replies);
      }),
    );
  });

  test("also hold simple texts, and arrays that are null", () => {
    expect(new ReplyReader().read(bytes("+OK\r\n*-1\r\n$0\r\n\r\n:-7\r\n"))).toEqual(["OK", null, "", -7]);
  });

  test("of another protocol are an error", () => {
    expect(() => new ReplyReader().read(bytes("HTTP/1.1 400 Bad Request\r\n"))).toThrow("not of its protocol");
  });
});

test("a command tells the length of each word in bytes", () => {
  expect(encodeCommand("SET", "größe", 12)).toBe("*3\r\n$3\r\nSET\r\n$7\r\ngröße\r\n$2\r\n12\r\n");
});
