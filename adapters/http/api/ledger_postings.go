package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

// PostingBody is a posting with its entries.
type PostingBody struct {
	ID          httpapi.ID[ident.Posting]     `json:"id" doc:"Id of the posting."`
	Number      int64                         `json:"number" doc:"Number of the posting: from 1, without gaps, in recording order." example:"4711"`
	Kind        postingKind                   `json:"kind" doc:"Kind of posting." example:"converted"`
	Transaction httpapi.ID[ident.Transaction] `json:"transactionId,omitzero" doc:"Id of the transaction, if any."`
	Effective   httpapi.Time                  `json:"effectiveAt" doc:"Effective time of the posting."`
	Recorded    httpapi.Time                  `json:"recordedAt" doc:"Recorded time of the posting."`
	Memo        string                        `json:"memo,omitempty" doc:"Memo of the posting; for payments, the reference." example:"4T9K2M7PXQ3A"`
	Reverses    httpapi.ID[ident.Posting]     `json:"reverses,omitzero" doc:"Id of the posting that this posting reverses."`
	ReversedBy  httpapi.ID[ident.Posting]     `json:"reversedBy,omitzero" doc:"Id of the posting that reverses this posting."`
	Entries     []postingEntryBody            `json:"entries" doc:"Entries of the posting."`
}

type postingDetailsBody struct {
	PostingBody
	Authorisation *authorisationBody `json:"authorisation,omitempty" doc:"Authorisation of a manual posting."`
}

type authorisationBody struct {
	TokenID  httpapi.ID[ident.Token] `json:"tokenId,omitzero" doc:"Id of the authorising token. Omitted if the operator of the service authorised the posting."`
	Actor    string                  `json:"actor,omitempty" doc:"Name of the authorising person: from Causeway-Actor, or of the operator." example:"Ana Lima"`
	Approval *approvalBody           `json:"approval,omitempty" doc:"Approval of the posting by a second person, if it needed four eyes."`
	Note     string                  `json:"note" doc:"Reason of the posting." example:"The bank charged the wire of 30 October twice."`
	At       httpapi.Time            `json:"authorisedAt" doc:"Time of the authorisation."`
}

func renderPostingDetails(p accounting.Posting) postingDetailsBody {
	body := postingDetailsBody{PostingBody: renderPosting(p.RecordedPosting)}
	if a := p.Authorisation; a != nil {
		body.Authorisation = &authorisationBody{httpapi.NewID(a.By.Token), a.By.Actor, renderApproval(a.Approval), a.Note, httpapi.NewTime(a.At)}
	}
	return body
}

type postingEntryBody struct {
	Debit    string           `json:"debit" doc:"Path of the debited account." example:"funding/jit"`
	Credit   string           `json:"credit" doc:"Path of the credited account." example:"income/fees"`
	Currency httpapi.Currency `json:"currency" doc:"Currency of both accounts." example:"USD"`
	Amount   httpapi.Minor    `json:"amount" doc:"Amount, in the smallest unit of the currency." example:"50"`
}

// postingKind is one of ledger.Kinds.
type postingKind string

// Schema returns the enum of kinds.
func (postingKind) Schema(huma.Registry) *huma.Schema { return enumSchema(ledger.Kinds()) }

func renderPosting(p ports.RecordedPosting) PostingBody {
	body := PostingBody{ID: postingID(p.ID), Number: p.Seq, Kind: postingKind(p.Kind), Transaction: httpapi.NewID(p.Transaction),
		Effective: httpapi.NewTime(p.Effective), Recorded: httpapi.NewTime(p.Recorded), Memo: p.Memo,
		Reverses: postingID(p.Reverses), ReversedBy: postingID(p.ReversedBy), Entries: make([]postingEntryBody, len(p.Entries))}
	for i, e := range p.Entries {
		body.Entries[i] = postingEntryBody{e.Debit, e.Credit, httpapi.Currency(e.Currency), minor(e.Amount)}
	}
	return body
}

// postingParams selects postings.
type postingParams struct {
	httpapi.ReportFormat
	httpapi.Paging
	httpapi.Sorting
	TimeBasis
	TimeRange
	Kind          postingKind                   `query:"kind" doc:"Kind of posting."`
	TransactionID httpapi.ID[ident.Transaction] `query:"transactionId" doc:"Id of the transaction."`
	CustomerID    httpapi.ID[ident.Customer]    `query:"customerId" doc:"Id of the customer of the transaction."`
	Memo          string                        `query:"memo" maxLength:"200" doc:"Exact memo; for payments, the reference." example:"4T9K2M7PXQ3A"`
}

func (p postingParams) filter(call httpapi.Call) (ports.PostingFilter, error) {
	after, err := parseNumberCursor(postingCursor, p.Cursor)
	filter := ports.PostingFilter{Platform: call.Principal.Platform, Kind: ledger.Kind(p.Kind), Transaction: p.TransactionID.Value,
		Customer: p.CustomerID.Value, By: p.kind(), Interval: p.interval(), After: after, Limit: p.Limit, Ascending: p.Ascending()}
	if p.Memo != "" {
		filter.Memos = []string{p.Memo}
	}
	return filter, err
}

func registerLedgerPostings(a *httpapi.API, service Accounting) {
	httpapi.GetLongReport(a, httpapi.Operation{
		ID: "listLedgerPostings", Path: "/ledger/postings", Tag: tagLedger, Summary: "List postings", Permission: platform.View,
		Description: "Returns postings in recording order, newest first by default. All filters must match. `by` selects the time that `from` " +
			"and `to` filter. With format=csv, one line per entry.",
		Errors: []fault.Code{fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *postingParams) (ports.PostingPage, error) {
		filter, err := in.filter(call)
		if err != nil {
			return ports.PostingPage{}, err
		}
		return service.Postings(ctx, filter)
	}, func(p ports.PostingPage) httpapi.Page[PostingBody] {
		return renderUncountedPage(p.Postings, p.More, renderPosting, func(p ports.RecordedPosting) httpapi.Cursor {
			return numberCursor(postingCursor, p.Seq)
		})
	}, func(_ context.Context, call httpapi.Call, in *postingParams) (accounting.Table, error) {
		filter, err := in.filter(call)
		return service.PostingsTable(filter), err
	})

	type getParams struct {
		PostingID httpapi.ID[ident.Posting] `path:"postingId" doc:"Id of the posting."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getLedgerPosting", Path: "/ledger/postings/{postingId}", Tag: tagLedger, Summary: "Get a posting", Permission: platform.View,
		Description: "Returns a posting with its entries and reversals, and the authorisation of a manual posting.",
		Errors:      []fault.Code{fault.NotFound, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (accounting.Posting, error) {
		return service.Posting(ctx, call.Principal.Platform, in.PostingID.Value.UUID())
	}, renderPostingDetails)
}
