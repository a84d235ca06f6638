package payments

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"causeway/app/internal/uow"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// MaxNote is the maximum length of a rejection reason and of a fact, in bytes.
const MaxNote = 500

// Approve approves a payment that waits for the decision of the platform, with the requested facts
// about the receiver. Faults: TRANSACTION_NOT_FOUND,
// TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL, USER_NOT_READY, CUSTOMER_DELETED, INVALID_INPUT.
func (s *Service) Approve(ctx context.Context, p ident.Platform, id ident.Transaction, receiver map[string]string,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	var bad []fault.Field
	for _, name := range slices.Sorted(maps.Keys(receiver)) {
		if len(receiver[name]) > MaxNote {
			bad = append(bad, fault.Field{Field: "receiverCustomerInfo." + name, Message: "must not be longer than 500 bytes"})
		}
	}
	if len(bad) > 0 {
		return transaction.Transaction{}, fault.Invalid(bad...)
	}
	return s.decide(ctx, p, id, claim, func(ctx context.Context, tx Tx, w work,
		t transaction.Transaction) (transaction.Decision, error) {
		parties, err := tx.TransactionParties(ctx, transactionKey(t))
		if err != nil {
			return transaction.Decision{}, err
		}
		var owner customer.Customer // none of the platform's own transactions, which wait for no approval
		if parties.Customer != nil {
			owner = *parties.Customer
		}
		return t.Approved(receiver, owner, w.Now)
	})
}

// Reject rejects a payment that waits for the decision of the platform. Faults: as Approve.
func (s *Service) Reject(ctx context.Context, p ident.Platform, id ident.Transaction, reason string,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	if len(reason) > MaxNote {
		return transaction.Transaction{}, fault.Invalid(fault.Field{Field: "reason", Message: "must not be longer than 500 bytes"})
	}
	return s.decide(ctx, p, id, claim, func(_ context.Context, _ Tx, w work, t transaction.Transaction) (transaction.Decision, error) {
		return t.Rejected(transaction.PayRequestFailed, reason, w.Now)
	})
}

func (s *Service) decide(ctx context.Context, p ident.Platform, id ident.Transaction, claim *ports.IdempotentRequest,
	decide func(context.Context, Tx, work, transaction.Transaction) (transaction.Decision, error)) (transaction.Transaction, error) {
	key := ports.TransactionKey{Platform: p, ID: id}
	read, err := s.Store.TransactionsByKey(ctx, []ports.TransactionKey{key})
	if err != nil {
		return transaction.Transaction{}, err
	}
	t, exists := read[key]
	if !exists {
		return transaction.Transaction{}, fault.New(fault.TransactionNotFound, "There is no transaction %s.", id)
	}
	var d transaction.Decision
	var done work
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		done = s.newWork()
		locked, err := lockReceived(ctx, tx, t)
		if err != nil {
			return err
		}
		if d, err = decide(ctx, tx, done, locked[key]); err != nil {
			return err
		}
		if d, err = done.settleReceived(d, locked); err != nil {
			return err
		}
		if err := tx.SaveResponse(ctx, claim, d.Transaction, nil); err != nil {
			return err
		}
		return done.Write(ctx, tx)
	})
	if err != nil {
		return transaction.Transaction{}, err
	}
	s.afterCommit(done)
	return d.Transaction, nil
}

// requestApprovals requests approval of payments from their platforms and settles the responses. A
// request is sent before anything is written, under the same id for every attempt, so that it can be
// repeated if it could not be sent or the process ends. A response that cannot be stored is kept for
// the next attempt.
func (s *Service) requestApprovals(ctx context.Context, jobs []ports.Job) error {
	keys := uow.TransactionKeys(jobs)
	read, err := s.Store.TransactionsByKey(ctx, keys)
	if err != nil {
		return err
	}
	responses := map[ports.TransactionKey]transaction.ApprovalResponse{}
	owners := map[ports.TransactionKey]customer.Customer{}
	relayed := map[ports.TransactionKey]bool{}
	var requested []transaction.Transaction
	for _, t := range inOrder(keys, read) {
		key := transactionKey(t)
		if t.IncomingState() != transaction.ApprovalRequested {
			continue // already decided, by an earlier attempt or by the platform
		}
		var kept bool
		if responses[key], kept = s.approvalResponses.get(key); !kept {
			if responses[key], relayed[key], err = s.requestApproval(ctx, t); err != nil {
				return err
			}
		}
		if owners[key], err = s.Store.Customer(ctx, t.Platform, t.Customer); err != nil {
			return err
		}
		requested = append(requested, t)
	}
	err = s.settleReceivedJobs(ctx, jobs, requested, func(w work, t transaction.Transaction) (*transaction.Decision, error) {
		if t.IncomingState() != transaction.ApprovalRequested {
			return nil, nil // the platform decided before its endpoint responded
		}
		if relayed[transactionKey(t)] {
			w.EnqueueAt(t.Platform, transaction.StepTimeOut, t.ID.UUID(), w.Now.Add(event.Timeout))
			return nil, nil
		}
		d, err := t.ApprovalResponded(responses[transactionKey(t)], owners[transactionKey(t)], w.Now)
		return &d, err
	})
	if err == nil {
		s.approvalResponses.remove(keys)
	}
	return err
}

// requestApproval requests approval of one payment, and keeps the response. If the request is relayed to a listener, it calls
// AnswerApproval with the response.
func (s *Service) requestApproval(ctx context.Context, t transaction.Transaction) (answer transaction.ApprovalResponse, relayed bool,
	err error) {
	response, err := s.Approvals.RequestApproval(ctx, event.Event{ID: t.Approval.Webhook, Platform: t.Platform, Type: event.IncomingPayment,
		Name: event.IncomingPaymentPending, Subject: t.ID.UUID(), OccurredAt: t.CreatedAt, Resource: t,
		Trace: t.Trace})
	if fault.Is(err, fault.WebhookEndpointNotSet) { // it was set when the payment was received
		return transaction.ApprovalResponse{Note: "there is no webhook endpoint any more"}, false, nil
	}
	if response.Relayed {
		return answer, true, err
	}
	if response.Outcome.Responded() {
		parsed := parseApprovalResponse(response.StatusCode, response.Response)
		s.approvalResponses.put(transactionKey(t), parsed)
		return parsed, false, err
	}
	if err != nil {
		return answer, false, err
	}
	return transaction.ApprovalResponse{Note: "the webhook endpoint did not respond"}, false, nil
}

// AnswerApproval settles the response to a request for approval that a listener has relayed to a program of a developer: its
// status and body. Faults: TRANSACTION_NOT_FOUND, TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL if it comes too late.
func (s *Service) AnswerApproval(ctx context.Context, p ident.Platform, id ident.Transaction, status int, body string,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	return s.decide(ctx, p, id, claim, func(ctx context.Context, tx Tx, w work, t transaction.Transaction) (transaction.Decision, error) {
		if t.Approval == nil || t.IncomingState() != transaction.ApprovalRequested {
			return transaction.Decision{}, fault.New(fault.TransactionNotPendingPlatformApproval,
				"The transaction %s waits for no response. It had %s to come.", t.ID, event.Timeout)
		}
		parties, err := tx.TransactionParties(ctx, transactionKey(t))
		if err != nil {
			return transaction.Decision{}, err
		}
		var owner customer.Customer
		if parties.Customer != nil {
			owner = *parties.Customer
		}
		return t.ApprovalResponded(parseApprovalResponse(status, body), owner, w.Now)
	})
}

// parseApprovalResponse reads the known fields of a response. A body that is not JSON is ignored.
func parseApprovalResponse(status int, body string) transaction.ApprovalResponse {
	var parsed struct {
		Receiver map[string]any `json:"receiverCustomerInfo"`
		Reason   string         `json:"reason"`
		Message  string         `json:"message"`
		Required []any          `json:"requiredFields"`
	}
	response := transaction.ApprovalResponse{Status: status}
	if json.Unmarshal([]byte(body), &parsed) != nil {
		return response
	}
	response.Receiver, response.Note = FieldValues(parsed.Receiver), parsed.Reason
	if response.Note == "" {
		response.Note = parsed.Message
	}
	response.Note = strings.ToValidUTF8(response.Note[:min(len(response.Note), MaxNote)], "")
	for _, field := range parsed.Required {
		switch named := field.(type) {
		case string:
			response.RequiredFields = append(response.RequiredFields, named)
		case map[string]any:
			if name, ok := named["name"].(string); ok {
				response.RequiredFields = append(response.RequiredFields, name)
			}
		}
	}
	return response
}

// FieldValues returns the values of the known fields of a JSON object as texts. A value that is not a
// text is returned as JSON, and empty values are left out.
func FieldValues(object map[string]any) map[string]string {
	facts := map[string]string{}
	for _, name := range platform.CounterpartyFieldNames {
		value := object[name]
		text, isText := value.(string)
		if !isText && value != nil {
			if written, err := json.Marshal(value); err == nil {
				text = string(written)
			}
		}
		if text != "" {
			facts[name] = text
		}
	}
	if len(facts) == 0 {
		return nil
	}
	return facts
}

// timeOut ends payments that the platform did not decide in time.
func (s *Service) timeOut(ctx context.Context, jobs []ports.Job) error {
	keys := uow.TransactionKeys(jobs)
	read, err := s.Store.TransactionsByKey(ctx, keys)
	if err != nil {
		return err
	}
	return s.settleReceivedJobs(ctx, jobs, inOrder(keys, read), func(w work, t transaction.Transaction) (*transaction.Decision, error) {
		switch t.IncomingState() {
		case transaction.ApprovalPending:
		case transaction.ApprovalRequested: // relayed to a listener, which had its time
			d, err := t.ApprovalResponded(transaction.ApprovalResponse{Note: "the listener did not respond"}, customer.Customer{}, w.Now)
			return &d, err
		default:
			return nil, nil // decided
		}
		if w.Now.Before(t.Approval.Deadline) {
			w.EnqueueAt(t.Platform, transaction.StepTimeOut, t.ID.UUID(), t.Approval.Deadline)
			return nil, nil
		}
		d, err := t.TimedOut(w.Now)
		return &d, err
	})
}
