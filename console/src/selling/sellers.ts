import { useState } from "preact/hooks";
import { baseUrl } from "../router.tsx";
import { useSales } from "../sales/sales.tsx";
import { store, stored } from "../service/stored.ts";
import { shopOf, useSession } from "../session/session.ts";
import { addDays, useToday } from "../shop/days.ts";

/** The days whose sellers are suggested, as on the first page. */
const DAYS = 14;

/** The seller of sales, kept for this browser: a till that several people use asks for their names. */
export function useSeller(): readonly [seller: string, type: (name: string) => void, keep: () => void] {
  const { key } = useSession();
  const name = `petstore-seller ${baseUrl} ${shopOf(key)}`;
  const [seller, type] = useState(() => stored(name) ?? key.name);
  return [seller, type, () => store(name, seller)];
}

/** Who has sold something in the last days. */
export function useSellers(): readonly string[] {
  const today = useToday();
  const { data } = useSales({ first: today && addDays(today, 1 - DAYS), last: today });
  return data?.sellers.flatMap(({ name }) => name ?? []) ?? [];
}
