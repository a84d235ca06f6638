package console

import (
	"net/http"
	"net/url"
	"slices"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// deliveriesPage lists webhooks.
type deliveriesPage struct {
	page
	Status   event.Status
	Statuses []event.Status
	Items    []ports.Delivery
	Actions  []fact
	Older    string // the address of the next page
}

func (c *Console) showDeliveries(r *request) error {
	query := r.URL.Query()
	data := deliveriesPage{page: c.page(r, "Webhooks", "webhooks"), Status: event.Status(query.Get("status")), Statuses: event.Statuses}
	if data.Status != "" && !slices.Contains(event.Statuses, data.Status) {
		return errNotFound
	}
	filter := ports.DeliveryFilter{Limit: pageSize, Status: data.Status}
	filter.After.SetUUID(after(query))
	found, err := c.Webhooks.Deliveries(r.Context(), r.platform.ID, filter)
	if err != nil {
		return err
	}
	data.Items = found.Items
	if n := len(found.Items); found.More {
		data.Older = data.Base + "/webhooks?" + url.Values{"status": {string(data.Status)},
			"after": {found.Items[n-1].ID.UUID().String()}}.Encode()
	}
	if data.Person.May(person.Assist, r.platform.ID) {
		data.Actions = []fact{actionLink("Send failed webhooks again", data.Base+"/redeliver-failed"),
			actionLink("Send a test webhook", data.Base+"/test-webhook")}
	}
	if data.MayManageService() {
		data.Actions = append(data.Actions, actionLink("Set the webhook endpoint", data.Base+"/webhook-endpoint"))
	}
	return c.render(r, http.StatusOK, "webhooks.html", data)
}

// deliveryPage shows one webhook. Its body is shown only where personal data is.
type deliveryPage struct {
	page
	Delivery   ports.Delivery
	IsRevealed bool
	Details    webhookDetails
	Actions    []fact
}

func (c *Console) showDelivery(r *request) error { return c.deliveryWith(r, false) }

// revealDelivery shows the body of a webhook, which is recorded first.
func (c *Console) revealDelivery(r *request) error { return c.deliveryWith(r, true) }

func (c *Console) deliveryWith(r *request, revealed bool) error {
	id, err := ident.ParseWebhook(ident.Webhook{}.Prefix() + ":" + r.PathValue("webhook"))
	if err != nil {
		return errNotFound
	}
	found, err := c.Webhooks.Delivery(r.Context(), r.platform.ID, id)
	if err != nil {
		return err
	}
	data := deliveryPage{page: c.page(r, "Webhook", "webhooks"), Delivery: found, IsRevealed: revealed,
		Details: webhookDetails{Label: "Attempts", Attempts: found.Attempts}}
	if data.Person.May(person.Assist, r.platform.ID) {
		data.Actions = []fact{actionLink("Send again", data.Base+"/webhooks/"+pathOfID(id)+"/redeliver")}
	}
	if revealed {
		if err := c.People.RecordViewed(r.Context(), r.in.Person, r.platform.ID, id.UUID(), id.String()); err != nil {
			return err
		}
		data.Details.Pretty = indented(found.Body)
	}
	return c.render(r, http.StatusOK, "webhook.html", data)
}
