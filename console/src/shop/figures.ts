import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { FIGURES } from "./pets.ts";

/** How many animals and orders the shop has, and what has happened today. */
export function useFigures() {
  const { petstore } = useSession();
  const may = useMay();
  return useQuery(may("getShop") ? FIGURES : undefined, () => petstore.getShop());
}
