package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

type ledgerAccountBody struct {
	Path        string           `json:"path" doc:"Where the account stands in the chart." example:"customers/InternalAccount:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e12"`
	Currency    httpapi.Currency `json:"currency" doc:"The currency of the account." example:"USD"`
	Class       string           `json:"class" enum:"asset,liability,income,expense,trading" doc:"What the account is. The balance of an asset or expense is debits minus credits, of any other credits minus debits."`
	NoOverdraft bool             `json:"noOverdraft" doc:"Whether it can never go below zero."`
	Balance     httpapi.BigMinor `json:"balance" doc:"The balance, in the smallest unit of the currency."`
}

func renderLedgerAccount(a ports.LedgerAccount) ledgerAccountBody {
	return ledgerAccountBody{Path: a.Account.Path, Currency: httpapi.Currency(a.Account.Currency), Class: string(a.Class), NoOverdraft: a.NoOverdraft,
		Balance: httpapi.NewBigMinor(a.Balance)}
}

type ledgerAccountBalances struct {
	Path     string              `json:"path" doc:"Where the account stands in the chart." example:"rails/RTP"`
	At       *httpapi.Time       `json:"at,omitempty" doc:"The moment of the balances; left out for those of now."`
	By       string              `json:"by,omitempty" enum:"recorded,effective" doc:"By which time; with at."`
	Balances []ledgerAccountBody `json:"balances" doc:"The account in each currency that was ever posted to it."`
}

type accountEntryBody struct {
	Posting     httpapi.ID[ident.Posting]     `json:"postingId" doc:"The posting it belongs to."`
	Number      int64                         `json:"number" doc:"The number of the posting in the books: from 1, without a gap, in the order of recording." example:"4711"`
	Entry       int                           `json:"entry" doc:"Which entry of the posting it is, from 1." example:"1"`
	Kind        string                        `json:"kind" doc:"What the posting records." example:"deposit"`
	Side        string                        `json:"side" enum:"DEBIT,CREDIT" doc:"On which side of the entry the account stands."`
	Counterpart string                        `json:"counterpart" doc:"The account on the other side." example:"rails/RTP"`
	Amount      httpapi.Minor                 `json:"amount" doc:"How much it moves, in the smallest unit of the account's currency."`
	Balance     httpapi.BigMinor              `json:"balance" doc:"The balance of the account after this entry, as the books were recorded up to there."`
	Transaction httpapi.ID[ident.Transaction] `json:"transactionId,omitzero" doc:"The transaction it belongs to, if to one."`
	Effective   httpapi.Time                  `json:"effectiveAt" doc:"When it counts."`
	Recorded    httpapi.Time                  `json:"recordedAt" doc:"When it was written into the books."`
	Memo        string                        `json:"memo,omitempty" doc:"What was noted." example:"4T9K2M7PXQ3A"`
}

func renderAccountEntry(path string, e ports.AccountEntry) accountEntryBody {
	body := accountEntryBody{Posting: postingID(e.Posting), Number: e.Position.Seq, Entry: e.Position.N, Kind: string(e.Kind), Side: "DEBIT", Counterpart: e.Credit,
		Amount: minor(e.Amount), Balance: httpapi.NewBigMinor(e.Balance), Transaction: httpapi.NewID(e.Transaction),
		Effective: httpapi.NewTime(e.Effective), Recorded: httpapi.NewTime(e.Recorded), Memo: e.Memo}
	if e.Debit != path {
		body.Side, body.Counterpart = "CREDIT", e.Debit
	}
	return body
}

func registerLedgerAccounts(a *httpapi.API, f Accounting) {
	type list struct {
		httpapi.Paging
		Prefix   string           `query:"prefix" maxLength:"80" doc:"Only paths that begin like this." example:"customers/"`
		Currency httpapi.Currency `query:"currency" doc:"Only in this currency."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listLedgerAccounts", Path: "/ledger/accounts", Tag: tagLedger, Summary: "List ledger accounts", Permission: platform.View,
		Description: "Every account that was ever posted to, with its balance now, by path and currency.",
	}, func(ctx context.Context, call httpapi.Call, in *list) (ports.LedgerAccountPage, error) {
		if _, err := ledger.FindChartLine(in.Cursor.ID); !in.Cursor.IsZero() && (err != nil || in.Cursor.Key == "") {
			return ports.LedgerAccountPage{}, invalidCursor()
		}
		return f.Accounts(ctx, call.Principal.Platform, ports.LedgerAccountFilter{Prefix: in.Prefix, Currency: money.Currency(in.Currency),
			AfterPath: in.Cursor.ID, AfterCurrency: money.Currency(in.Cursor.Key), Limit: in.Limit})
	}, func(p ports.LedgerAccountPage) httpapi.Page[ledgerAccountBody] {
		return renderUncountedPage(p.Accounts, p.More, renderLedgerAccount, func(a ports.LedgerAccount) httpapi.Cursor {
			return httpapi.Cursor{ID: a.Account.Path, Key: string(a.Account.Currency)}
		})
	})

	type one struct {
		TimeBasis
		Account  string           `path:"account" maxLength:"80" doc:"The path of the account; write the / as %2F." example:"rails/RTP"`
		Currency httpapi.Currency `query:"currency" doc:"Only in this currency."`
		At       httpapi.Time     `query:"at" doc:"The balance as it was at the end of this moment; without it, now."`
	}
	type answered struct {
		in       *one
		accounts []ports.LedgerAccount
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getLedgerAccount", Path: "/ledger/accounts/{account}", Tag: tagLedger, Summary: "Get the balances of an account", Permission: platform.View,
		Description: "Now, or at any moment that has passed. By recorded time it is what the books said then, and the answer never changes; " +
			"by effective time it is what is known today of then.",
		Errors: []fault.Code{fault.NotFound, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *one) (answered, error) {
		accounts, err := f.Account(ctx, call.Principal.Platform, in.Account, money.Currency(in.Currency), ports.Cutoff{By: in.kind(), Moment: in.At.Time})
		return answered{in, accounts}, err
	}, func(r answered) ledgerAccountBalances {
		body := ledgerAccountBalances{Path: r.in.Account, At: optionalTime(r.in.At.Time), Balances: make([]ledgerAccountBody, len(r.accounts))}
		if body.At != nil {
			body.By = timeKindName(r.in.kind())
		}
		for i, a := range r.accounts {
			body.Balances[i] = renderLedgerAccount(a)
		}
		return body
	})
	registerAccountEntries(a, f)
}

func registerAccountEntries(a *httpapi.API, f Accounting) {
	type wanted struct {
		httpapi.Paging
		httpapi.Sorting
		TimeBasis
		TimeRange
		Account  string           `path:"account" maxLength:"80" doc:"The path of the account; write the / as %2F." example:"rails/RTP"`
		Currency httpapi.Currency `query:"currency" required:"true" doc:"The currency of the account."`
	}
	type answered struct {
		path string
		page ports.AccountEntryPage
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listLedgerEntries", Path: "/ledger/accounts/{account}/entries", Tag: tagLedger, Summary: "List the entries of an account", Permission: platform.View,
		Description: "The newest first, unless asked otherwise, in the order in which they were recorded, each with the balance after it. " +
			"`by` says which of their times from and to are about.",
		Errors: []fault.Code{fault.NotFound, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *wanted) (answered, error) {
		after, err := parseEntryCursor(in.Cursor)
		if err != nil {
			return answered{}, err
		}
		page, err := f.Entries(ctx, ports.AccountEntryFilter{
			Account: ledger.Account{Platform: call.Principal.Platform, Path: in.Account, Currency: money.Currency(in.Currency)},
			By:      in.kind(), Interval: in.interval(), After: after, Limit: in.Limit, Ascending: in.Ascending(),
		})
		return answered{in.Account, page}, err
	}, func(r answered) httpapi.Page[accountEntryBody] {
		return renderUncountedPage(r.page.Entries, r.page.More, func(e ports.AccountEntry) accountEntryBody { return renderAccountEntry(r.path, e) },
			func(e ports.AccountEntry) httpapi.Cursor { return entryCursor(e.Position) })
	})
}
