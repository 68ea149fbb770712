import { figuresQuery } from "../shop/figures.ts";
import { Animal } from "./animal.tsx";
import { Animals, petsQuery } from "./animals.tsx";
import { Categories } from "./categories.tsx";
import { DeliveryPage } from "./delivery.tsx";
import { EndpointPage } from "./endpoint.tsx";
import { EventPage } from "./event.tsx";
import { Events } from "./events.tsx";
import { Keys } from "./keys.tsx";
import { Orders } from "./orders.tsx";
import type { PageEntry } from "./page-entry.ts";
import { RequestPage } from "./request.tsx";
import { Requests } from "./requests.tsx";
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
    group: "Shop",
    shortcut: "g t",
    firstQuery: figuresQuery,
    view: Today,
  },
  {
    path: "/animals",
    title: "Animals",
    needs: "listPets",
    group: "Shop",
    shortcut: "g a",
    firstQuery: petsQuery,
    view: Animals,
  },
  { path: "/animals/:petId", title: "Animal", needs: "listPets", under: "/animals", view: Animal },
  { path: "/orders", title: "Orders", needs: "listStoreOrders", group: "Shop", shortcut: "g o", view: Orders },
  {
    path: "/categories",
    title: "Categories",
    needs: "listCategories",
    group: "Shop",
    shortcut: "g c",
    view: Categories,
  },
  { path: "/requests", title: "Requests", needs: "listRequests", group: "Developers", shortcut: "g r", view: Requests },
  { path: "/requests/:requestId", title: "Request", needs: "getRequest", under: "/requests", view: RequestPage },
  { path: "/events", title: "Events", needs: "listEvents", group: "Developers", shortcut: "g e", view: Events },
  { path: "/events/:eventId", title: "Event", needs: "getEvent", under: "/events", view: EventPage },
  {
    path: "/webhooks",
    title: "Webhooks",
    needs: "listWebhookEndpoints",
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
  { path: "/usage", title: "Usage", needs: "getUsage", group: "Developers", shortcut: "g u", view: Usage },
  { path: "/keys", title: "Keys", needs: "listKeys", group: "Developers", shortcut: "g k", view: Keys },
  {
    path: "/sandbox",
    title: "Sandbox",
    needs: "getSandbox",
    isForSandbox: true,
    group: "Developers",
    shortcut: "g s",
    view: Sandbox,
  },
];
