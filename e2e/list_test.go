package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"causeway/e2e/kit"
)

func TestListTransactions_Filters(t *testing.T) {
	t.Parallel()
	// Every filter finds exactly what it says, filters are combined, dates include both ends.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	ana, ben := h.createCustomer(object{"platformCustomerId": "ana"}), h.createCustomer(object{"platformCustomerId": "ben"})
	anaWallet, anaOther, benWallet := h.createWallet(ana, ""), h.createWallet(ana, ""), h.createWallet(ben, "")
	createQuote := func(customer, account string) apiResponse {
		return h.post("/quotes", kit.RampQuoteBody(customer, account, "SENDING", 5000)).wantStatus(201)
	}
	paid, open, other, wrong := createQuote(ana, anaWallet), createQuote(ana, anaWallet), createQuote(ana, anaOther),
		createQuote(ben, benWallet)
	h.payQuote(paid, 0).wantStatus(200)
	h.payQuote(wrong, 4999).wantStatus(200)
	hooks.awaitOutgoingEvent(paid.text("transactionId"), "COMPLETED")
	hooks.awaitOutgoingEvent(wrong.text("transactionId"), "REFUND_COMPLETED")
	id := func(quotes ...apiResponse) []string {
		ids := []string{}
		for _, q := range quotes {
			ids = append(ids, q.text("transactionId"))
		}
		return ids
	}
	created := func(q apiResponse) string { return url.QueryEscape(q.text("createdAt")) }
	before := url.QueryEscape(formatTimestamp(paid.time("createdAt").Add(-time.Hour)))

	for query, want := range map[string][]string{
		"":                                      id(wrong, other, open, paid),
		"sortOrder=asc":                         id(paid, open, other, wrong),
		"customerId=" + ana:                     id(other, open, paid),
		"customerId=" + h.createCustomer():      id(),
		"platformCustomerId=ben":                id(wrong),
		"platformCustomerId=nobody":             id(),
		"accountIdentifier=" + anaWallet:        id(open, paid),
		"accountIdentifier=" + ana:              id(),
		"receiverAccountIdentifier=" + anaOther: id(other),
		"senderAccountIdentifier=" + anaOther:   id(),
		"status=COMPLETED":                      id(paid),
		"status=PENDING":                        id(other, open),
		"status=FAILED":                         id(wrong),
		"status=EXPIRED":                        id(),
		"status=REFUNDED":                       id(),
		"status=FAILED&status=COMPLETED":        id(wrong, paid),
		"status=PENDING,FAILED&type=OUTGOING":   id(wrong, other, open),
		"currency=BTC&minAmount=1":              id(wrong, other, open, paid),
		"currency=USD&minAmount=5000&maxAmount=5000&status=FAILED&startDate=" + before: id(wrong),
		"currency=USD&maxAmount=4999":         id(),
		"type=OUTGOING":                       id(wrong, other, open, paid),
		"type=INCOMING":                       id(),
		"reference=" + paymentReference(open): id(open),
		"reference=NOBODYKNOWS1":              id(),
		"startDate=" + created(paid) + "&endDate=" + created(wrong):            id(wrong, other, open, paid),
		"startDate=" + before + "&endDate=" + before:                           id(),
		"customerId=" + ana + "&status=PENDING":                                id(other, open),
		"customerId=" + ana + "&status=PENDING&accountIdentifier=" + anaWallet: id(open),
		"customerId=" + ben + "&status=PENDING":                                id(),
	} {
		got := h.get("/transactions?" + query).wantStatus(200)
		if ids := itemIDs(got); !slices.Equal(ids, want) {
			t.Errorf("GET /transactions?%s: %v, want %v", query, ids, want)
		}
		if total := got.int("totalCount"); total != int64(len(want)) {
			t.Errorf("GET /transactions?%s: totalCount %d, want %d", query, total, len(want))
		}
	}
	// A timestamp as the interface writes it finds what was created then.
	for _, q := range []apiResponse{paid, open, other, wrong} {
		ids := itemIDs(h.get("/transactions?startDate=" + created(q) + "&endDate=" + created(q)).wantStatus(200))
		if !slices.Contains(ids, q.text("transactionId")) {
			t.Errorf("from %s to the same moment: %v, without %s", q.text("createdAt"), ids, q.text("transactionId"))
		}
	}
	for _, query := range []string{"status=DONE", "type=outgoing", "limit=0", "limit=101", "limit=x", "cursor=x", "sortOrder=up",
		"startDate=yesterday", "customerId=ana"} {
		h.get("/transactions?"+query).wantError(400, "INVALID_INPUT")
	}
	if got := h.get("/transactions?minAmount=3&maxAmount=2").wantError(400, "INVALID_INPUT").errorFields(); !slices.Equal(got,
		[]string{"minAmount", "maxAmount"}) {
		t.Errorf("a range without a currency: errors about %v", got)
	}

	// Quotes are listed in the same ways.
	for query, want := range map[string][]string{
		"":                     {wrong.text("id"), other.text("id"), open.text("id"), paid.text("id")},
		"status=FAILED":        {wrong.text("id")},
		"customerId=" + ana:    {other.text("id"), open.text("id"), paid.text("id")},
		"currency=BTC&limit=1": {wrong.text("id")},
		"sortOrder=asc&status=PENDING&status=COMPLETED&currency=USD": {paid.text("id"), open.text("id"), other.text("id")},
	} {
		if got := itemIDs(h.get("/quotes?" + query).wantStatus(200)); !slices.Equal(got, want) {
			t.Errorf("GET /quotes?%s: %v, want %v", query, got, want)
		}
	}
}

func TestList_PagesReturnEachItemOnce(t *testing.T) {
	t.Parallel()
	// The pages of a list, in either order and of any size, contain each item once, also while
	// new ones are added.
	h := newSharedEnv(t)
	customer := h.createCustomer()
	wallet := h.createWallet(customer, "")
	var created []string
	add := func() {
		created = append(created, h.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 5000)).wantStatus(201).text("transactionId"))
	}
	for range 7 {
		add()
	}
	backwards := func() []string { all := slices.Clone(created); slices.Reverse(all); return all }

	for _, size := range []int{1, 2, 3, 7, 20} {
		for order, want := range map[string][]string{"asc": created, "desc": backwards()} {
			if got := h.listPages(fmt.Sprintf("/transactions?customerId=%s&sortOrder=%s&limit=%d", customer, order, size),
				nil); !slices.Equal(got, want) {
				t.Errorf("%s by %d: %v, want %v", order, size, got, want)
			}
		}
	}
	want := backwards()
	if got := h.listPages("/transactions?limit=2", add); !slices.Equal(got, want) {
		t.Errorf("while new ones come: %v, want %v", got, want)
	}

	var quotes []string
	for _, id := range backwards() {
		quotes = append(quotes, h.get("/transactions/"+id).text("quoteId"))
	}
	if got := h.listPages("/quotes?limit=3", nil); !slices.Equal(got, quotes) {
		t.Errorf("quotes: %v, want %v", got, quotes)
	}

	// The other lists have the same pages.
	var customers []string
	for range 4 {
		customers = append([]string{h.createCustomer()}, customers...)
	}
	if got := h.listPages("/customers?limit=2", nil); !slices.Equal(got, append(customers, customer)) {
		t.Errorf("customers: %v, want %v", got, append(customers, customer))
	}
	other := h.createWallet(customer, "")
	if got := h.listPages("/customers/external-accounts?limit=1&customerId="+customer, nil); len(got) != 2 || !slices.Contains(got, other) ||
		!slices.Contains(got, wallet) {
		t.Errorf("external accounts: %v", got)
	}
}

// listPages reads a list page by page; it calls between before each page but the first.
func (p *tenant) listPages(path string, between func()) []string {
	p.t.Helper()
	var all []string
	for next := path; ; {
		page := p.get(next).wantStatus(200)
		all = append(all, itemIDs(page)...)
		if page.text("hasMore") != "true" {
			if page.text("nextCursor") != "" {
				p.t.Errorf("%s: a nextCursor on the last page", next)
			}
			return all
		}
		if len(all) > 100 {
			p.t.Fatalf("%s does not end", path)
		}
		next = path + "&cursor=" + url.QueryEscape(page.text("nextCursor"))
		if between != nil {
			between()
		}
	}
}

func itemIDs(page apiResponse) []string {
	ids := []string{}
	for i := range page.list("data") {
		ids = append(ids, page.text(fmt.Sprintf("data.%d.id", i)))
	}
	return ids
}

func TestListCustomers_Filters(t *testing.T) {
	t.Parallel()
	// Customers and their accounts are found by their filters and by their ids.
	h := newSharedEnv(t)
	ana := h.createCustomer(object{"platformCustomerId": "ana", "region": "US"})
	shop := h.post("/customers", object{"platformCustomerId": "shop", "customerType": "BUSINESS",
		"businessInfo": object{"legalName": "Acme"}}).wantStatus(201).text("id")
	wallet, bank := h.createWallet(ana, ""), h.createBankAccount(ana)

	for query, want := range map[string][]string{
		"":                          {shop, ana},
		"platformCustomerId=ana":    {ana},
		"customerType=BUSINESS":     {shop},
		"region=US":                 {ana},
		"platformCustomerId=nobody": {},
	} {
		if got := itemIDs(h.get("/customers?" + query).wantStatus(200)); !slices.Equal(got, want) {
			t.Errorf("GET /customers?%s: %v, want %v", query, got, want)
		}
	}
	for query, want := range map[string][]string{
		"":                   {bank, wallet},
		"currency=BTC":       {wallet},
		"currency=USD":       {bank},
		"customerId=" + shop: {},
		"customerId=" + ana:  {bank, wallet},
	} {
		if got := itemIDs(h.get("/customers/external-accounts?" + query).wantStatus(200)); !slices.Equal(got, want) {
			t.Errorf("GET /customers/external-accounts?%s: %v, want %v", query, got, want)
		}
	}
	h.get("/customers/" + ana).wantStatus(200).wantValues(map[string]any{"id": ana, "platformCustomerId": "ana", "kycStatus": "APPROVED"})
	h.get("/customers/external-accounts/" + wallet).wantStatus(200).wantValues(map[string]any{"id": wallet, "customerId": ana,
		"currency": "BTC"})
}
