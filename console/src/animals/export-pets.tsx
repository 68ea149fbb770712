import type { ListPetsQuery, Pet } from "petstore-client";
import { useSession } from "../session/session.ts";
import { useToday } from "../shop/days.ts";
import { Export } from "../ui/export.tsx";
import { amountText } from "../ui/money.ts";

const columns = {
  id: ({ id }: Pet) => id,
  name: ({ name }: Pet) => name,
  categoryId: ({ categoryId }: Pet) => categoryId,
  status: ({ status }: Pet) => status,
  reference: ({ reference }: Pet) => reference,
  price: ({ price }: Pet) => price && amountText(price),
  currency: ({ price }: Pet) => price?.currency,
  metadata: ({ metadata }: Pet) => metadata && JSON.stringify(metadata), // a field is one text
};

/** Saves the animals that match the filters as a CSV file. */
export function ExportPets({ filters, onClose }: { readonly filters: ListPetsQuery; readonly onClose: () => void }) {
  const { petstore } = useSession();
  const today = useToday();
  return (
    <Export<Pet>
      what="animal"
      file={`animals-${today}`}
      columns={columns}
      read={(options) => petstore.listPets({ ...filters, limit: 100 }, options)}
      onClose={onClose}
    />
  );
}
