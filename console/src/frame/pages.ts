import { Animal } from "../animals/animal-page.tsx";
import { Animals, petsQuery } from "../animals/animals-page.tsx";
import { Categories } from "../categories/categories-page.tsx";
import { EventPage } from "../events/event-page.tsx";
import { Events } from "../events/events-page.tsx";
import { Keys } from "../keys/keys-page.tsx";
import { OrderPage } from "../orders/order-page.tsx";
import { Orders } from "../orders/orders-page.tsx";
import { RequestPage } from "../requests/request-page.tsx";
import { Requests } from "../requests/requests-page.tsx";
import { Usage } from "../requests/usage-page.tsx";
import { SalesPage } from "../sales/sales-page.tsx";
import { Sandbox } from "../sandbox/sandbox-page.tsx";
import { figuresQuery } from "../shop/figures.ts";
import { Today } from "../today/today-page.tsx";
import { DeliveryPage } from "../webhooks/delivery-page.tsx";
import { EndpointPage } from "../webhooks/endpoint-page.tsx";
import { Webhooks } from "../webhooks/webhooks-page.tsx";
import type { PageEntry } from "./page-entry.ts";

/** All pages, in the order in which they are listed. */
export const pages: readonly PageEntry[] = [
  {
    path: "/",
    title: "Today",
    needs: "getCurrentKey",
    icon: "today",
    isInBar: true,
    group: "Shop",
    shortcut: "g t",
    firstQuery: figuresQuery,
    view: Today,
  },
  {
    path: "/animals",
    title: "Animals",
    needs: "listPets",
    icon: "animals",
    count: ({ animals }) => animals.total,
    isInBar: true,
    group: "Shop",
    shortcut: "g a",
    firstQuery: petsQuery,
    view: Animals,
  },
  { path: "/animals/:petId", title: "Animal", needs: "listPets", under: "/animals", view: Animal },
  {
    path: "/orders",
    title: "Orders",
    needs: "listStoreOrders",
    icon: "orders",
    count: ({ openOrders }) => openOrders,
    group: "Shop",
    shortcut: "g o",
    view: Orders,
  },
  { path: "/orders/:orderId", title: "Order", needs: "getStoreOrder", under: "/orders", view: OrderPage },
  {
    path: "/sales",
    title: "Sales",
    needs: "getSales",
    icon: "sales",
    isInBar: true,
    group: "Shop",
    shortcut: "g l",
    view: SalesPage,
  },
  {
    path: "/categories",
    title: "Categories",
    needs: "listCategories",
    icon: "categories",
    group: "Shop",
    shortcut: "g c",
    view: Categories,
  },
  {
    path: "/requests",
    title: "Requests",
    needs: "listRequests",
    icon: "requests",
    group: "Developers",
    shortcut: "g r",
    view: Requests,
  },
  { path: "/requests/:requestId", title: "Request", needs: "getRequest", under: "/requests", view: RequestPage },
  {
    path: "/events",
    title: "Events",
    needs: "listEvents",
    icon: "events",
    group: "Developers",
    shortcut: "g e",
    view: Events,
  },
  { path: "/events/:eventId", title: "Event", needs: "getEvent", under: "/events", view: EventPage },
  {
    path: "/webhooks",
    title: "Webhooks",
    needs: "listWebhookEndpoints",
    icon: "webhooks",
    group: "Developers",
    shortcut: "g w",
    view: Webhooks,
  },
  {
    path: "/webhooks/:endpointId",
    title: "Webhook",
    needs: "getWebhookEndpoint",
    under: "/webhooks",
    view: EndpointPage,
  },
  {
    path: "/webhooks/:endpointId/:deliveryId",
    title: "Delivery",
    needs: "getWebhookDelivery",
    under: "/webhooks",
    view: DeliveryPage,
  },
  {
    path: "/usage",
    title: "Usage",
    needs: "getUsage",
    icon: "usage",
    group: "Developers",
    shortcut: "g u",
    view: Usage,
  },
  {
    path: "/keys",
    title: "Keys",
    needs: "listKeys",
    icon: "keys",
    group: "Developers",
    shortcut: "g k",
    view: Keys,
  },
  {
    path: "/sandbox",
    title: "Sandbox",
    needs: "getSandbox",
    isForSandbox: true,
    icon: "sandbox",
    group: "Developers",
    shortcut: "g s",
    view: Sandbox,
  },
];
