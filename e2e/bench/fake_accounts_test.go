package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// serveAccounts responds to a request about funded accounts, and reports whether it is one.
// The caller holds the lock.
func (f *fakeService) serveAccounts(w http.ResponseWriter, r *http.Request, body []byte) bool {
	path := strings.TrimPrefix(r.URL.Path, basePath)
	var in struct {
		Source, Destination struct{ AccountID string }
		Amount              int64
	}
	if len(body) > 0 && json.Unmarshal(body, &in) != nil {
		return false
	}
	response, status := `{}`, http.StatusOK
	switch {
	case path == "/customers/internal-accounts":
		response = f.listAccounts(r.URL.Query().Get("cursor"))
	case strings.HasSuffix(path, "/fund"):
		id := strings.TrimSuffix(strings.TrimPrefix(path, "/sandbox/internal-accounts/"), "/fund")
		status = f.changeBalance(id, in.Amount)
		f.send("INCOMING_PAYMENT.COMPLETED", uuid.NewString())
	case strings.HasPrefix(path, "/quotes/") && strings.HasSuffix(path, "/execute"):
		f.counts.executed.Add(1)
		transaction := strings.TrimSuffix(strings.TrimPrefix(path, "/quotes/Quote:"), "/execute")
		status = f.changeBalance(f.payers[transaction], -rampAmount)
		f.send("OUTGOING_PAYMENT.PROCESSING", transaction)
		f.send(f.finalEvent, transaction)
	case path == "/transfer-out":
		f.counts.out.Add(1)
		status = f.changeBalance(in.Source.AccountID, -in.Amount)
		response, status = f.transfer("OUTGOING_PAYMENT.COMPLETED", status)
	case path == "/transfer-in":
		f.counts.in.Add(1)
		status = f.changeBalance(in.Destination.AccountID, in.Amount)
		response, status = f.transfer("INCOMING_PAYMENT.COMPLETED", status)
	default:
		return false
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, response)
	return true
}

func (f *fakeService) transfer(ending string, status int) (string, int) {
	if status != http.StatusOK {
		return `{}`, status
	}
	transaction := uuid.NewString()
	f.send(ending, transaction)
	if f.deliverBeforeResponse {
		f.sending.Wait()
	}
	return `{"id":"Transaction:` + transaction + `"}`, http.StatusCreated
}

// changeBalance changes a balance, and sends the webhook.
func (f *fakeService) changeBalance(account string, by int64) (status int) {
	for i := range f.accounts {
		if f.accounts[i].ID == account {
			f.accounts[i].Balance.Amount += by
			f.send("INTERNAL_ACCOUNT.BALANCE_UPDATED", "")
			return http.StatusOK
		}
	}
	return http.StatusNotFound
}

// listAccounts returns a page of three accounts.
func (f *fakeService) listAccounts(cursor string) string {
	from, _ := strconv.Atoi(cursor) // none: from the first
	upto := min(from+3, len(f.accounts))
	var items []string
	for _, h := range f.accounts[from:upto] {
		items = append(items, fmt.Sprintf(`{"id":%q,"customerId":%q,"balance":{"amount":%d}}`, h.ID, h.CustomerID, h.Balance.Amount))
	}
	next := ""
	if upto < len(f.accounts) {
		next = strconv.Itoa(upto)
	}
	return fmt.Sprintf(`{"data":[%s],"hasMore":%t,"nextCursor":%q}`, strings.Join(items, ","), next != "", next)
}
