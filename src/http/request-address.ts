import type { ClientAddresses } from "./client-address.ts";
import type { Exchange } from "./exchange.ts";

/** The address of the client that sent a request. Read once per request. */
export function addressOf(exchange: Exchange, addresses: ClientAddresses): string {
  return (exchange.address ??=
    addresses.only ??
    addresses.of(
      addresses.onlyPeer ?? exchange.peer?.address ?? "",
      addresses.readsForwardedFor ? exchange.request.headers.get("x-forwarded-for") : null,
    ));
}
