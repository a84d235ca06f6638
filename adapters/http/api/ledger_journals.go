package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/journals"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/journal"
	"causeway/core/platform"
	"causeway/ports"
)

// Journals holds the use cases of journals for a general ledger.
type Journals interface {
	Make(ctx context.Context, p ident.Platform, by platform.Author, idempotent *ports.IdempotentRequest,
		span journal.Span) ([]journal.Journal, error)
	List(ctx context.Context, p ident.Platform, span *journal.Span, after string, limit int) (ports.JournalPage, error)
	Journal(ctx context.Context, p ident.Platform, number string) (journal.Journal, error)
	File(ctx context.Context, p ident.Platform, number string, f journal.Format, o journal.Options) (journals.Table, error)
}

type glJournalBody struct {
	Number         string                  `json:"number" doc:"Number of the journal. The same journal always has the same number and the same content." example:"CW-202610-USD"`
	Span           string                  `json:"span" doc:"Day or month of the journal, by effective time in UTC." example:"2026-10"`
	Date           string                  `json:"date" format:"date" doc:"Date of the journal: the last day of the span." example:"2026-10-31"`
	Currency       httpapi.Currency        `json:"currency" doc:"Currency of all amounts." example:"USD"`
	Revision       int                     `json:"revision" doc:"1 for the first journal of the span in the currency. A later one has only what was posted into the span after the former ones were made." example:"1"`
	MappingVersion int                     `json:"mappingVersion" doc:"Version of the mapping to the general ledger that the codes are of, the same for all revisions." example:"3"`
	MadeAt         httpapi.Time            `json:"madeAt" doc:"Time at which the journal was made."`
	TokenID        httpapi.ID[ident.Token] `json:"tokenId,omitzero" doc:"Id of the token that requested it. Omitted if the operator of the service did."`
	Actor          string                  `json:"actor,omitempty" doc:"Name of the person: from Causeway-Actor, or of the operator." example:"Ana Lima"`
	Control        *glJournalControlBody   `json:"control,omitempty" doc:"Control totals. Omitted in lists."`
	Lines          []glJournalLineBody     `json:"lines,omitempty" doc:"Lines, by code. Omitted in lists."`
}

type glJournalControlBody struct {
	Lines   int              `json:"lines" doc:"Number of lines." example:"14"`
	Debits  httpapi.BigMinor `json:"debits" doc:"Sum of the debits, in the smallest unit."`
	Credits httpapi.BigMinor `json:"credits" doc:"Sum of the credits, equal to that of the debits."`
	SHA256  string           `json:"sha256" doc:"SHA-256 of the lines, in hexadecimal." example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
}

type glJournalLineBody struct {
	Code   string            `json:"code" doc:"Code of the account in the general ledger." example:"1100"`
	Name   string            `json:"name" doc:"Name of that account." example:"Funds at payment partners"`
	Debit  *httpapi.BigMinor `json:"debit,omitempty" doc:"Debits, in the smallest unit. Omitted for a line of credits."`
	Credit *httpapi.BigMinor `json:"credit,omitempty" doc:"Credits, in the smallest unit. Omitted for a line of debits."`
}

type glJournalsMadeBody struct {
	Data []glJournalBody `json:"data" doc:"All journals of the span, by number, with their lines."`
}

func renderGLJournalHeader(j journal.Journal) glJournalBody {
	return glJournalBody{Number: j.Number, Span: j.Span.String(), Date: j.Span.LastDay().Format("2006-01-02"),
		Currency: httpapi.Currency(j.Currency), Revision: j.Revision,
		MappingVersion: j.MappingVersion, MadeAt: httpapi.NewTime(j.MadeAt), TokenID: httpapi.NewID(j.By.Token), Actor: j.By.Actor}
}

func renderGLJournal(j journal.Journal) glJournalBody {
	body, control := renderGLJournalHeader(j), j.Control()
	body.Control = &glJournalControlBody{control.Lines, httpapi.NewBigMinor(control.Debits), httpapi.NewBigMinor(control.Credits),
		control.SHA256}
	for _, l := range j.Lines {
		line := glJournalLineBody{Code: l.Code, Name: l.Name}
		if debit := httpapi.NewBigMinor(l.Debit); l.Debit.Sign() > 0 {
			line.Debit = &debit
		}
		if credit := httpapi.NewBigMinor(l.Credit); l.Credit.Sign() > 0 {
			line.Credit = &credit
		}
		body.Lines = append(body.Lines, line)
	}
	return body
}

func renderGLJournals(all []journal.Journal) glJournalsMadeBody {
	list := glJournalsMadeBody{Data: make([]glJournalBody, len(all))}
	for i, j := range all {
		list.Data[i] = renderGLJournal(j)
	}
	return list
}

const glJournalCursor = "journal"

func registerJournals(a *httpapi.API, service Journals) {
	type makeInput struct {
		Body struct {
			Span string `json:"span" minLength:"1" maxLength:"10" doc:"Day (YYYY-MM-DD) or month (YYYY-MM) that is over, in UTC." example:"2026-10"`
		}
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "makeGLJournals", Path: "/ledger/journals", Tag: tagLedger, Summary: "Make journals for the general ledger",
		Permission: platform.Manage, Actor: true, Timeout: monthEndTimeout,
		Description: "Makes journals of a day or a month for a general ledger that is kept in another program: one for each currency, with the " +
			"debits and credits of each of its accounts by the mapping. " +
			"Repeating the request returns the same journals; if more was posted into the span, further ones with only that. The closing of a " +
			"year is left out, because the general ledger closes its own. " +
			"A month or its days can have journals, not both.",
		Errors: []fault.Code{fault.Conflict, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *makeInput) ([]journal.Journal, error) {
		span, err := journal.ParseSpan(in.Body.Span)
		if err != nil {
			return nil, err
		}
		return service.Make(ctx, call.Principal.Platform, call.Author(), call.IdempotentRequest, span)
	}, renderGLJournals)

	type listParams struct {
		httpapi.Paging
		Span string `query:"span" maxLength:"10" doc:"Day or month of the journals. Defaults to all." example:"2026-10"`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listGLJournals", Path: "/ledger/journals", Tag: tagLedger, Summary: "List journals for the general ledger",
		Permission:  platform.View,
		Description: "Returns journals without their lines, the latest days first.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams) (ports.JournalPage, error) {
		var span *journal.Span
		if in.Span != "" {
			parsed, err := journal.ParseSpan(in.Span)
			if err != nil {
				return ports.JournalPage{}, err
			}
			span = &parsed
		}
		if !in.Cursor.IsZero() && (in.Cursor.Key != glJournalCursor || in.Cursor.ID == "") {
			return ports.JournalPage{}, httpapi.InvalidCursor()
		}
		return service.List(ctx, call.Principal.Platform, span, in.Cursor.ID, in.Limit)
	}, func(p ports.JournalPage) httpapi.Page[glJournalBody] {
		return renderUncountedPage(p.Journals, p.More, renderGLJournalHeader, func(j journal.Journal) httpapi.Cursor {
			return httpapi.Cursor{ID: j.Number, Key: glJournalCursor}
		})
	})

	type getParams struct {
		Number string `path:"number" minLength:"1" maxLength:"40" doc:"Number of the journal." example:"CW-202610-USD"`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getGLJournal", Path: "/ledger/journals/{number}", Tag: tagLedger, Summary: "Get a journal for the general ledger",
		Permission:  platform.View,
		Description: "Returns a journal with its lines and control totals.",
		Errors:      []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (journal.Journal, error) {
		return service.Journal(ctx, call.Principal.Platform, in.Number)
	}, renderGLJournal)

	type fileParams struct {
		Number     string `path:"number" minLength:"1" maxLength:"40" doc:"Number of the journal." example:"CW-202610-USD"`
		Format     string `query:"format" required:"true" enum:"csv,quickbooks,xero,netsuite" doc:"csv: all fields. quickbooks: journal entries of QuickBooks Online; the names of the mapping must be those of its accounts. xero: manual journals of Xero, in the currency of its organisation. netsuite: journal entries of NetSuite, whose external id is the number."`
		TaxRate    string `query:"taxRate" maxLength:"100" default:"Tax Exempt" doc:"For xero: name of the tax rate of all lines." example:"Tax Exempt"`
		Subsidiary string `query:"subsidiary" maxLength:"100" doc:"For netsuite: name of the subsidiary. Omit it for an account without subsidiaries." example:"Parent Company"`
	}
	httpapi.GetFile(a, httpapi.Operation{
		ID: "exportGLJournal", Path: "/ledger/journals/{number}/file", Tag: tagLedger, Summary: "Export a journal for the general ledger",
		Permission: platform.View,
		Description: "Returns a journal as a file that the program imports (RFC 4180). A journal that the program cannot take, because of its " +
			"decimals or its number of lines, is refused with 409.",
		Errors: []fault.Code{fault.NotFound, fault.Conflict},
	}, []string{"text/csv"}, func(ctx context.Context, call httpapi.Call, in *fileParams) (httpapi.File, error) {
		table, err := service.File(ctx, call.Principal.Platform, in.Number, journal.Format(in.Format),
			journal.Options{TaxRate: in.TaxRate, Subsidiary: in.Subsidiary})
		return httpapi.File{Name: in.Number + ".csv", ContentType: "text/csv; charset=utf-8; header=present", Write: table.CSV}, err
	})
}
