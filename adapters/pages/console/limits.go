package console

import (
	"context"

	"causeway/core/ident"
	"causeway/core/limit"
)

// Limits are the use cases on what the operator allows to send.
type Limits interface {
	Headroom(ctx context.Context, p ident.Platform, of ident.Customer) ([]limit.Headroom, error)
}

// limitsOf returns the limits of a platform or, if it is not zero, of a customer, with what is left today; nil if there are none.
func (c *Console) limitsOf(r *request, of ident.Customer) (*table, error) {
	found, err := c.Limits.Headroom(r.Context(), r.platform.ID, of)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	rows := table{Label: "Limits", Columns: columns("Currency", "Customers", "Region", ">Of a payment", ">Of a day", ">Sent today",
		">Left today")}
	for _, h := range found[:min(len(found), maxAccounts)] {
		var customers cell
		switch {
		case h.Customer == limit.EachCustomer:
			customers = plain("each, here who has sent most")
			if !of.IsZero() {
				customers = plain("each")
			}
		case h.Customer == "":
			customers = plain("all together")
		default:
			customers = shortID(h.Customer, "")
		}
		row := []cell{plain(string(h.Currency)), customers, plain(h.Region), amountCell("none"), amountCell("none"),
			minorCell(h.Sent.Sent, h.Currency), amountCell("")}
		if h.PerPayment > 0 {
			row[3] = minorCell(h.PerPayment, h.Currency)
		}
		if h.Daily > 0 {
			row[4], row[6] = minorCell(h.Daily, h.Currency), minorCell(h.Left, h.Currency)
		}
		rows.Rows = append(rows.Rows, row)
	}
	return &rows, nil
}
