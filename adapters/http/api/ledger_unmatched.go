package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/transaction"
	"causeway/ports"
)

type unmatchedFundsBody struct {
	ReceiptID  httpapi.ID[ident.Receipt]     `json:"receiptId" doc:"Id of the receipt, used to assign it. A failed refund has one too."`
	PostingID  httpapi.ID[ident.Posting]     `json:"postingId" doc:"Id of the posting to the unmatched funds account."`
	RefundOf   httpapi.ID[ident.Transaction] `json:"refundOf,omitzero" doc:"Id of the transaction whose refund failed, if any."`
	Amount     currencyAmount                `json:"amount" doc:"Amount of the funds."`
	Rail       string                        `json:"rail" doc:"Path of the ledger account of the rail or blockchain that the funds arrived by; for a failed refund, of the rail, blockchain or internal account that funded the transaction." example:"rails/RTP"`
	Reference  string                        `json:"reference,omitempty" doc:"Reference given by the payer, or of the transaction, if any." example:"RENT MARCH"`
	PartnerID  string                        `json:"partnerId" doc:"Partner's id of the payment. Empty for a failed refund. For a corrected break, the id on the statement or, if a payment with it was received, that of the break." example:"20250310MMQFMP31000042"`
	ReceivedAt httpapi.Time                  `json:"receivedAt" doc:"Time the payment arrived, the refund was initiated or the break was resolved."`
	Reason     string                        `json:"reason" enum:"OWNER_UNKNOWN,REFUND_FAILED" doc:"Reason the funds are unmatched. OWNER_UNKNOWN: no reference, an unknown reference, or an account that could not accept the payment. REFUND_FAILED: the rail refused to return the funds to the payer."`
	Assigned   bool                          `json:"assigned" doc:"Whether the funds were assigned."`
	Assignment *assignmentBody               `json:"assignment,omitempty" doc:"Assignment of the funds."`
}

type assignmentBody struct {
	Target        string                            `json:"to" enum:"TRANSACTION,ACCOUNT,PAYER" doc:"Target of the assignment. TRANSACTION: funds a quote. ACCOUNT: credited to an internal account. PAYER: returned to the payer; if the rail refuses, the funds are listed as unmatched again."`
	TransactionID httpapi.ID[ident.Transaction]     `json:"transactionId,omitzero" doc:"Id of the transaction that was funded, or of the deposit."`
	AccountID     httpapi.ID[ident.InternalAccount] `json:"accountId,omitzero" doc:"Id of the internal account that was credited."`
	Note          string                            `json:"note" doc:"Reason of the assignment." example:"The payer called and named the quote."`
	TokenID       httpapi.ID[ident.Token]           `json:"tokenId" doc:"Id of the token that made the assignment."`
	Actor         string                            `json:"actor,omitempty" doc:"Name of the person who made it, from Causeway-Actor." example:"Ana Lima"`
	Approval      *approvalBody                     `json:"approval,omitempty" doc:"Approval of the assignment by a second person, if it needed four eyes."`
	AssignedAt    httpapi.Time                      `json:"assignedAt" doc:"Time of the assignment."`
}

func renderUnmatchedFunds(u transaction.Unmatched) unmatchedFundsBody {
	body := unmatchedFundsBody{ReceiptID: httpapi.NewID(u.Receipt.ID), PostingID: postingID(u.Posting), RefundOf: httpapi.NewID(u.RefundOf),
		Amount: renderAmount(u.Receipt.Amount), Rail: u.SourceAccount, Reference: u.Receipt.Reference, PartnerID: u.Receipt.PartnerID,
		ReceivedAt: httpapi.NewTime(u.Receipt.At), Reason: "OWNER_UNKNOWN", Assigned: u.Assignment != nil}
	if u.IsFailedRefund() {
		body.Reason = "REFUND_FAILED"
	}
	if a := u.Assignment; a != nil {
		body.Assignment = &assignmentBody{Target: assignmentTarget(*a), TransactionID: httpapi.NewID(a.Transaction),
			AccountID: httpapi.NewID(a.Account),
			Note:      a.Note, TokenID: httpapi.NewID(a.By.Token), Actor: a.By.Actor, Approval: renderApproval(a.Approval),
			AssignedAt: httpapi.NewTime(a.At)}
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
	To   string `json:"to" pattern:"^(PAYER|(Transaction|InternalAccount):[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$" patternDescription:"the id of a transaction, the id of an internal account, or PAYER" doc:"Target of the assignment: the id of the transaction of a quote that awaits exactly this amount, the id of an internal account in this currency, or PAYER to return the funds." example:"Transaction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	Note string `json:"note" minLength:"1" maxLength:"200" doc:"Reason of the assignment, at most 200 bytes. It becomes the memo of the posting." example:"The payer called and named the quote."`
}

// Resolve refuses a note that is too long in bytes.
func (r assignUnmatchedFundsRequest) Resolve(huma.Context) []error {
	if len(r.Note) <= 200 {
		return nil
	}
	return httpapi.FieldErrors(fault.Invalid(fault.Field{Field: "note", Message: "must be at most 200 bytes long"}))
}

// unmatchedParams selects unmatched funds.
type unmatchedParams struct {
	httpapi.ReportFormat
	httpapi.Paging
	httpapi.Sorting
	Assigned string `query:"assigned" enum:"true,false" doc:"Whether the funds were assigned. Defaults to both."`
}

func (p unmatchedParams) filter() (ports.UnmatchedFilter, error) {
	after, err := httpapi.CursorID[ident.Posting](p.Cursor)
	filter := ports.UnmatchedFilter{After: after.UUID(), Limit: p.Limit, Ascending: p.Ascending()}
	if p.Assigned != "" {
		assigned := p.Assigned == "true"
		filter.Assigned = &assigned
	}
	return filter, err
}

func registerUnmatched(a *httpapi.API, service Accounting) {
	httpapi.GetLongReport(a, httpapi.Operation{
		ID: "listUnmatched", Path: "/ledger/unmatched", Tag: tagLedger, Summary: "List unmatched funds", Permission: platform.View,
		Description: "Returns payments that could not be attributed or returned, failed refunds, and corrected breaks of reconciliations, " +
			"newest first by default. " +
			"The funds are in the suspense account `funding/unmatched` until they are assigned.",
	}, func(ctx context.Context, call httpapi.Call, in *unmatchedParams) (ports.UnmatchedPage, error) {
		filter, err := in.filter()
		if err != nil {
			return ports.UnmatchedPage{}, err
		}
		return service.Unmatched(ctx, call.Principal.Platform, filter)
	}, func(p ports.UnmatchedPage) httpapi.Page[unmatchedFundsBody] {
		return renderUncountedPage(p.Items, p.More, renderUnmatchedFunds,
			func(u transaction.Unmatched) httpapi.Cursor { return httpapi.Cursor{ID: postingIDText(u.Posting)} })
	}, func(_ context.Context, call httpapi.Call, in *unmatchedParams) (accounting.Table, error) {
		filter, err := in.filter()
		return service.UnmatchedTable(call.Principal.Platform, filter), err
	})

	type assignInput struct {
		ReceiptID httpapi.ID[ident.Receipt] `path:"receiptId" doc:"Id of the receipt."`
		Body      assignUnmatchedFundsRequest
	}
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "assignUnmatched", Path: "/ledger/unmatched/{receiptId}/assign", Tag: tagLedger, Summary: "Assign unmatched funds",
		Permission: platform.Manage,
		Description: "Assigns unmatched funds, once. A quote that awaits exactly this amount and currency runs as if it were paid now, if " +
			"the limits of the platform allow it; " +
			"an internal account is credited with an incoming transaction; PAYER returns the funds by the rail they arrived by. " +
			"A failed refund is assigned to an account or, if a payment had funded its transaction, to PAYER, which sends that payment back. " +
			"Funds that the rail refused to return so cannot be assigned to PAYER again.",
		Errors: []fault.Code{fault.NotFound, fault.TransactionNotFound, fault.InternalAccountNotFound, fault.Conflict, fault.InvalidCurrency,
			fault.AmountOutOfRange, fault.CustomerDeleted, fault.UserNotReady, fault.QuoteNotExecutable,
			fault.ExternalAccountVerificationRequired, fault.TransactionSizeLimitExceeded, fault.DailyVolumeLimitExceeded},
	}, 200, unmatchedFundsBody{}), func(ctx context.Context, call httpapi.Call,
		in *assignInput) (proposal.Outcome[transaction.Unmatched], error) {
		command, err := accounting.AssignTo(in.ReceiptID.Value, in.Body.To, in.Body.Note)
		if err != nil {
			return proposal.Outcome[transaction.Unmatched]{}, err
		}
		return service.AssignUnmatched(ctx, call.Principal.Platform, call.Author(), command, call.IdempotentRequest)
	}, renderOutcome(200, renderUnmatchedFunds))
}

func postingIDText(posting uuid.UUID) string { return postingID(posting).Value.String() }
