import { figuresQuery } from "../shop/figures.ts";
import { Animal } from "./animal.tsx";
import { Animals, petsQuery } from "./animals.tsx";
import { Categories } from "./categories.tsx";
import { DeliveryPage } from "./delivery.tsx";
import { EndpointPage } from "./endpoint.tsx";
import { EventPage } from "./event.tsx";
import { Events } from "./events.tsx";
import { Keys } from "./keys.tsx";
import { OrderPage } from "./order.tsx";
import { Orders } from "./orders.tsx";
import type { PageEntry } from "./page-entry.ts";
import { RequestPage } from "./request.tsx";
import { Requests } from "./requests.tsx";
import { SalesPage } from "./sales.tsx";
import { Sandbox } from "./sandbox.tsx";
import { Today } from "./today.tsx";
import { Usage } from "./usage.tsx";
import { Webhooks } from "./webhooks.tsx";

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
