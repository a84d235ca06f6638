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

// PostingBody is embedded in the body that tells of one posting.
type PostingBody struct {
	ID          httpapi.ID[ident.Posting]     `json:"id" doc:"The posting."`
	Number      int64                         `json:"number" doc:"Its number in the books: from 1, without a gap, in the order of recording." example:"4711"`
	Kind        postingKind                   `json:"kind" doc:"What it records." example:"converted"`
	Transaction httpapi.ID[ident.Transaction] `json:"transactionId,omitzero" doc:"The transaction it belongs to, if to one."`
	Effective   httpapi.Time                  `json:"effectiveAt" doc:"When it counts."`
	Recorded    httpapi.Time                  `json:"recordedAt" doc:"When it was written into the books."`
	Memo        string                        `json:"memo,omitempty" doc:"What was noted; for a payment's postings, its reference." example:"4T9K2M7PXQ3A"`
	Reverses    httpapi.ID[ident.Posting]     `json:"reverses,omitzero" doc:"The posting that this one undoes."`
	ReversedBy  httpapi.ID[ident.Posting]     `json:"reversedBy,omitzero" doc:"The posting that undoes this one."`
	Entries     []postingEntryBody            `json:"entries" doc:"What it moves, in its order."`
}

type postingDetailsBody struct {
	PostingBody
	Authorisation *authorisationBody `json:"authorisation,omitempty" doc:"Who stands behind it, where it was made by hand."`
}

type authorisationBody struct {
	TokenID httpapi.ID[ident.Token] `json:"tokenId" doc:"The token that it was authorised with."`
	Note    string                  `json:"note" doc:"Why." example:"The bank charged the wire of 30 October twice."`
	At      httpapi.Time            `json:"authorisedAt" doc:"When."`
}

func renderPostingDetails(p accounting.Posting) postingDetailsBody {
	body := postingDetailsBody{PostingBody: renderPosting(p.RecordedPosting)}
	if a := p.Authorisation; a != nil {
		body.Authorisation = &authorisationBody{httpapi.NewID(a.By), a.Note, httpapi.NewTime(a.At)}
	}
	return body
}

type postingEntryBody struct {
	Debit    string           `json:"debit" doc:"The account that is debited." example:"funding/jit"`
	Credit   string           `json:"credit" doc:"The account that is credited." example:"income/fees"`
	Currency httpapi.Currency `json:"currency" doc:"The currency of both." example:"USD"`
	Amount   httpapi.Minor    `json:"amount" doc:"How much moves, in the smallest unit of the currency." example:"50"`
}

// postingKind is a text from the table of kinds.
type postingKind string

// Schema lists the values.
func (postingKind) Schema(huma.Registry) *huma.Schema { return enumSchema(toStrings(ledger.Kinds())) }

func renderPosting(p ports.RecordedPosting) PostingBody {
	body := PostingBody{ID: postingID(p.ID), Number: p.Seq, Kind: postingKind(p.Kind), Transaction: httpapi.NewID(p.Transaction),
		Effective: httpapi.NewTime(p.Effective), Recorded: httpapi.NewTime(p.Recorded), Memo: p.Memo,
		Reverses: postingID(p.Reverses), ReversedBy: postingID(p.ReversedBy), Entries: make([]postingEntryBody, len(p.Entries))}
	for i, e := range p.Entries {
		body.Entries[i] = postingEntryBody{e.Debit, e.Credit, httpapi.Currency(e.Currency), minor(e.Amount)}
	}
	return body
}

func registerLedgerPostings(a *httpapi.API, f Accounting) {
	type wanted struct {
		httpapi.Paging
		httpapi.Sorting
		TimeBasis
		TimeRange
		Kind          postingKind                   `query:"kind" doc:"Of this kind."`
		TransactionID httpapi.ID[ident.Transaction] `query:"transactionId" doc:"Of this transaction."`
		CustomerID    httpapi.ID[ident.Customer]    `query:"customerId" doc:"Of the transactions of this customer."`
		Memo          string                        `query:"memo" maxLength:"200" doc:"With exactly this memo; a payment's postings have its reference." example:"4T9K2M7PXQ3A"`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listLedgerPostings", Path: "/ledger/postings", Tag: tagLedger, Summary: "List postings", Permission: platform.View,
		Description: "The newest first, unless asked otherwise, in the order in which they were recorded. Filters add up. `by` says which of their times from and to are about.",
		Errors:      []fault.Code{fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *wanted) (ports.PostingPage, error) {
		after, err := parseNumberCursor(postingCursor, in.Cursor)
		if err != nil {
			return ports.PostingPage{}, err
		}
		return f.Postings(ctx, ports.PostingFilter{Platform: call.Principal.Platform, Kind: ledger.Kind(in.Kind), Transaction: in.TransactionID.Value,
			Customer: in.CustomerID.Value, Memo: in.Memo, By: in.kind(), Interval: in.interval(), After: after, Limit: in.Limit, Ascending: in.Ascending()})
	}, func(p ports.PostingPage) httpapi.Page[PostingBody] {
		return renderUncountedPage(p.Postings, p.More, renderPosting, func(p ports.RecordedPosting) httpapi.Cursor {
			return numberCursor(postingCursor, p.Seq)
		})
	})

	type one struct {
		PostingID httpapi.ID[ident.Posting] `path:"postingId" doc:"The posting."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getLedgerPosting", Path: "/ledger/postings/{postingId}", Tag: tagLedger, Summary: "Get a posting", Permission: platform.View,
		Description: "One posting with its entries, and what it reverses or is reversed by. One that was made by hand says who authorised it, and why.", Errors: []fault.Code{fault.NotFound, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *one) (accounting.Posting, error) {
		return f.Posting(ctx, call.Principal.Platform, in.PostingID.Value.UUID())
	}, renderPostingDetails)
}
