import type { StoreOrder } from "petstore-client";
import { PetName } from "../animals/pet-name.tsx";
import { useCategories } from "../categories/categories.ts";
import { CategoryName } from "../categories/category-name.tsx";
import { PetHistory } from "../events/pet-history.tsx";
import { Link } from "../router.tsx";
import { useSales } from "../sales/sales.tsx";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { localText, useZone } from "../shop/days.ts";
import { type Fact, Facts } from "../ui/facts.tsx";
import { Loading } from "../ui/loading.tsx";
import { moneyOf } from "../ui/money.ts";
import { Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { OrderActions, OrderState } from "./order-rows.tsx";
import { ORDERS, orderName } from "./orders.ts";

/** The category in which an animal was sold. The sales of that day name one that was merged or deleted afterwards. */
function SoldCategory({ of: { confirmedAt = "" }, id }: { readonly of: StoreOrder; readonly id: bigint }) {
  const { data: categories } = useCategories();
  const zone = useZone();
  const day = zone && categories && !categories.has(id) ? localText(confirmedAt, zone).slice(0, 10) : "";
  const name = useSales({ first: day, last: day }).data?.categories.find((one) => one.categoryId === id)?.name;
  return name === undefined ? <CategoryName id={id} of={categories} /> : <bdi>{name}</bdi>;
}

const timeOf = (at: string | undefined) => at && <Time at={at} />;

/** One order: its animal, its price, who sold it, and when what happened. */
export function OrderPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { petstore } = useSession();
  const id = params["orderId"] ?? "";
  const query = useQuery(`${ORDERS}/${id}`, () => petstore.getStoreOrder(id as unknown as bigint));
  const { data: order } = query;
  if (!order) {
    return (
      <Page title={`Order ${id}`}>
        <Loading of={query} />
      </Page>
    );
  }
  const { petId, petName, categoryId, price, seller, metadata = {} } = order;
  return (
    <Page title={orderName(order)} isName note={`No. ${id}`} actions={<OrderActions of={order} />}>
      <Facts
        of={[
          ["Status", <OrderState of={order} />],
          ["Animal", <Link to={`/animals/${petId}`}>{petName ? <bdi>{petName}</bdi> : <PetName id={petId} />}</Link>],
          ["Category", categoryId !== undefined && <SoldCategory of={order} id={categoryId} />],
          ["Price", price && moneyOf(price)],
          ["Sold by", seller && <bdi>{seller}</bdi>],
          ["Placed", timeOf(order.placedAt)],
          ["Sold", timeOf(order.confirmedAt)],
          ["Released", timeOf(order.cancelledAt)],
          ["Returned", timeOf(order.returnedAt)],
          ...Object.entries(metadata).map((pair) => pair.map((text) => <bdi>{text}</bdi>) as unknown as Fact),
        ]}
      />
      <PetHistory id={petId} orderId={order.id} />
    </Page>
  );
}
