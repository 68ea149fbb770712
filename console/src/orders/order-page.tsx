import { PetName } from "../animals/pet-name.tsx";
import { useCategories } from "../categories/categories.ts";
import { CategoryName } from "../categories/category-name.tsx";
import { PetHistory } from "../events/pet-history.tsx";
import { Link } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { type Fact, Facts } from "../ui/facts.tsx";
import { Loading } from "../ui/loading.tsx";
import { moneyOf } from "../ui/money.ts";
import { Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { OrderActions, OrderState } from "./order-rows.tsx";
import { ORDERS, orderName } from "./orders.ts";

const timeOf = (at: string | undefined) => at && <Time at={at} />;

/** One order: its animal, its price, who sold it, and when what happened. */
export function OrderPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { petstore } = useSession();
  const id = params["orderId"] ?? "";
  const query = useQuery(`${ORDERS}/${id}`, () => petstore.getStoreOrder(id as unknown as bigint));
  const { data: categories } = useCategories();
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
          ["Category", categoryId !== undefined && <CategoryName id={categoryId} of={categories} />],
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
