package payments

import (
	"sync"

	"causeway/core/transaction"
	"causeway/ports"
)

// maxApprovalResponses is how many responses are kept.
const maxApprovalResponses = 4096

// approvalResponses keeps the responses to requests for approval until they are committed. If the
// commit fails, the platform is not asked again: an endpoint may respond to a repeated request with
// 409, which says only that it has decided.
type approvalResponses struct {
	mu            sync.Mutex
	byTransaction map[ports.TransactionKey]transaction.ApprovalResponse
}

func (a *approvalResponses) get(key ports.TransactionKey) (transaction.ApprovalResponse, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	response, known := a.byTransaction[key]
	return response, known
}

func (a *approvalResponses) put(key ports.TransactionKey, response transaction.ApprovalResponse) {
	a.mu.Lock()
	defer a.mu.Unlock()
	// Some may be left over from jobs that another process has finished.
	if a.byTransaction == nil || len(a.byTransaction) >= maxApprovalResponses {
		a.byTransaction = map[ports.TransactionKey]transaction.ApprovalResponse{}
	}
	a.byTransaction[key] = response
}

func (a *approvalResponses) remove(keys []ports.TransactionKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range keys {
		delete(a.byTransaction, key)
	}
}
