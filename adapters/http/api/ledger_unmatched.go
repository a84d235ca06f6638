package api

import (
	"context"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

type unmatchedFundsBody struct {
	ReceiptID  httpapi.ID[ident.Receipt]     `json:"receiptId" doc:"The payment that arrived; what it is assigned by. A refund that failed has an id here too."`
	PostingID  httpapi.ID[ident.Posting]     `json:"postingId" doc:"The posting that put it among the unmatched funds."`
	RefundOf   httpapi.ID[ident.Transaction] `json:"refundOf,omitzero" doc:"The transaction whose refund failed, if it is that."`
	Amount     currencyAmount                `json:"amount" doc:"How much it is."`
	Rail       string                        `json:"rail" doc:"The account of the rail or chain it came by; of a refund, where the transaction was paid from." example:"rails/RTP"`
	Reference  string                        `json:"reference,omitempty" doc:"The reference that the payer gave, or of the transaction, if any." example:"RENT MARCH"`
	PartnerID  string                        `json:"partnerId" doc:"What the partner calls the payment; empty for a refund; of a break that a statement told of, the statement's name of it." example:"20250310MMQFMP31000042"`
	ReceivedAt httpapi.Time                  `json:"receivedAt" doc:"When it arrived; when the refund began; when the break was resolved."`
	Reason     string                        `json:"reason" enum:"OWNER_UNKNOWN,NOT_SENT_BACK" doc:"OWNER_UNKNOWN: it came with no reference, one that nobody has, or for an account that could not take it. NOT_SENT_BACK: it was to go back to its payer, and the rail would not take it."`
	Assigned   bool                          `json:"assigned" doc:"Whether somebody has decided whose it is."`
	Assignment *assignmentBody               `json:"assignment,omitempty" doc:"What was decided."`
}

type assignmentBody struct {
	Target        string                            `json:"to" enum:"TRANSACTION,ACCOUNT,PAYER" doc:"TRANSACTION: it paid a quote. ACCOUNT: it was deposited. PAYER: it is sent back, and stands here once more if the rail will not take it."`
	TransactionID httpapi.ID[ident.Transaction]     `json:"transactionId,omitzero" doc:"The transaction that it paid, or is deposited by."`
	AccountID     httpapi.ID[ident.InternalAccount] `json:"accountId,omitzero" doc:"The account it was deposited into."`
	Note          string                            `json:"note" doc:"Why, in the words of who decided." example:"The payer called and named the quote."`
	TokenID       httpapi.ID[ident.Token]           `json:"tokenId" doc:"The token that it was decided with."`
	AssignedAt    httpapi.Time                      `json:"assignedAt" doc:"When it was decided."`
}

func renderUnmatchedFunds(u transaction.Unmatched) unmatchedFundsBody {
	body := unmatchedFundsBody{ReceiptID: httpapi.NewID(u.Receipt.ID), PostingID: postingID(u.Posting), RefundOf: httpapi.NewID(u.RefundOf),
		Amount: renderAmount(u.Receipt.Amount), Rail: u.Receipt.PartnerAccount, Reference: u.Receipt.Reference, PartnerID: u.Receipt.PartnerID, ReceivedAt: httpapi.NewTime(u.Receipt.At), Reason: "OWNER_UNKNOWN", Assigned: u.Assignment != nil}
	if u.IsFailedRefund() {
		body.Reason = "NOT_SENT_BACK"
	}
	if a := u.Assignment; a != nil {
		body.Assignment = &assignmentBody{Target: assignmentTarget(*a), TransactionID: httpapi.NewID(a.Transaction), AccountID: httpapi.NewID(a.Account),
			Note: a.Note, TokenID: httpapi.NewID(a.By), AssignedAt: httpapi.NewTime(a.At)}
	}
	return body
}

func assignmentTarget(a transaction.Assignment) string {
	switch {
	case !a.Account.IsZero():
		return "ACCOUNT"
	case !a.Transaction.IsZero():
		return "TRANSACTION"
	default:
		return "PAYER"
	}
}

type assignUnmatchedFundsRequest struct {
	To   string `json:"to" pattern:"^(PAYER|(Transaction|InternalAccount):[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$" patternDescription:"the id of a transaction, the id of an internal account, or PAYER" doc:"Whose it is. The id of the transaction of a quote that waits for exactly this amount; the id of an internal account of its currency; or PAYER, to whom it is sent back." example:"Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	Note string `json:"note" minLength:"1" maxLength:"200" doc:"Why. It becomes the memo of the posting, at most 200 bytes long." example:"The payer called and named the quote."`
}

// Resolve finds a note that is too long in bytes.
func (r assignUnmatchedFundsRequest) Resolve(huma.Context) []error {
	if len(r.Note) <= 200 {
		return nil
	}
	return httpapi.FieldErrors(fault.Invalid(fault.Field{Field: "note", Message: "must be at most 200 bytes long"}))
}

func (r assignUnmatchedFundsRequest) command(receipt ident.Receipt) (accounting.AssignCommand, error) {
	a := accounting.AssignCommand{Receipt: receipt, Note: r.Note}
	var err error
	switch {
	case strings.HasPrefix(r.To, "Transaction:"):
		a.Transaction, err = ident.ParseTransaction(r.To)
	case strings.HasPrefix(r.To, "InternalAccount:"):
		a.Account, err = ident.ParseInternalAccount(r.To)
	}
	if err != nil {
		return a, fault.Invalid(fault.Field{Field: "to", Message: "must be the id of a transaction, the id of an internal account, or PAYER"})
	}
	return a, nil
}

func registerUnmatched(a *httpapi.API, f Accounting) {
	type list struct {
		httpapi.Paging
		httpapi.Sorting
		Assigned string `query:"assigned" enum:"true,false" doc:"Only what was assigned, or was not yet."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listUnmatched", Path: "/ledger/unmatched", Tag: tagLedger, Summary: "List unmatched funds", Permission: platform.View,
		Description: "Payments that arrived and whose owner nobody knew, or that could not be sent back; refunds that failed; and what only a partner's statement told of, " +
			"once its break is corrected: the newest first, unless asked otherwise. " +
			"The money lies in `funding/unmatched` until it is assigned.",
	}, func(ctx context.Context, call httpapi.Call, in *list) (ports.UnmatchedPage, error) {
		after, err := httpapi.CursorID[ident.Posting](in.Cursor)
		if err != nil {
			return ports.UnmatchedPage{}, err
		}
		filter := ports.UnmatchedFilter{After: after.UUID(), Limit: in.Limit, Ascending: in.Ascending()}
		if in.Assigned != "" {
			assigned := in.Assigned == "true"
			filter.Assigned = &assigned
		}
		return f.Unmatched(ctx, call.Principal.Platform, filter)
	}, func(p ports.UnmatchedPage) httpapi.Page[unmatchedFundsBody] {
		return renderUncountedPage(p.Items, p.More, renderUnmatchedFunds, func(u transaction.Unmatched) httpapi.Cursor { return httpapi.Cursor{ID: postingIDText(u.Posting)} })
	})

	type assign struct {
		ReceiptID httpapi.ID[ident.Receipt] `path:"receiptId" doc:"The payment that arrived."`
		Body      assignUnmatchedFundsRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "assignUnmatched", Path: "/ledger/unmatched/{receiptId}/assign", Tag: tagLedger, Summary: "Assign unmatched funds", Permission: platform.Manage,
		Description: "Says whose a payment is, once. A quote that waits for exactly this amount in this currency runs as if it had been paid now; " +
			"an account is credited, with an incoming transaction; or the money goes back to its payer by the rail it came by. " +
			"A refund that failed is for an account; money that a rail refused to take back does not go to PAYER.",
		Errors: []fault.Code{fault.NotFound, fault.TransactionNotFound, fault.InternalAccountNotFound, fault.Conflict, fault.InvalidCurrency,
			fault.AmountOutOfRange, fault.CustomerDeleted},
	}, func(ctx context.Context, call httpapi.Call, in *assign) (transaction.Unmatched, error) {
		command, err := in.Body.command(in.ReceiptID.Value)
		if err != nil {
			return transaction.Unmatched{}, err
		}
		return f.AssignUnmatched(ctx, call.Principal.Platform, call.Principal.Token, command, call.IdempotentRequest)
	}, renderUnmatchedFunds)
}

func postingIDText(posting uuid.UUID) string { return postingID(posting).Value.String() }
