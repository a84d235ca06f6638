package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

type ledgerAccountBody struct {
	Path        string           `json:"path" doc:"Path of the account in the chart of accounts." example:"customers/InternalAccount:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e12"`
	Currency    httpapi.Currency `json:"currency" doc:"Currency of the account." example:"USD"`
	Class       string           `json:"class" enum:"asset,liability,equity,income,expense,trading" doc:"Class of the account. The balance of an asset or expense account is debits minus credits; of any other class, credits minus debits."`
	NoOverdraft bool             `json:"noOverdraft" doc:"Whether the account cannot be overdrawn."`
	Balance     httpapi.BigMinor `json:"balance" doc:"Balance, in the smallest unit of the currency."`
	GLAccount
}

func renderLedgerAccount(a accounting.LedgerAccount) ledgerAccountBody {
	return ledgerAccountBody{Path: a.Account.Path, Currency: httpapi.Currency(a.Account.Currency), Class: string(a.Class),
		NoOverdraft: a.NoOverdraft,
		Balance:     httpapi.NewBigMinor(a.Balance), GLAccount: renderGLAccount(a.GL)}
}

type ledgerAccountBalances struct {
	Path     string              `json:"path" doc:"Path of the account in the chart of accounts." example:"rails/RTP"`
	At       *httpapi.Time       `json:"at,omitempty" doc:"Time of the balances. Omitted for current balances."`
	By       string              `json:"by,omitempty" enum:"recorded,effective" doc:"Time that at refers to. Only with at."`
	Balances []ledgerAccountBody `json:"balances" doc:"Balances, one per currency that was ever posted to the account."`
}

type accountEntryBody struct {
	Posting     httpapi.ID[ident.Posting]     `json:"postingId" doc:"Id of the posting."`
	Number      int64                         `json:"number" doc:"Number of the posting: from 1, without gaps, in recording order." example:"4711"`
	Entry       int                           `json:"entry" doc:"Number of the entry in the posting, from 1." example:"1"`
	Kind        string                        `json:"kind" doc:"Kind of posting." example:"deposit"`
	Side        string                        `json:"side" enum:"DEBIT,CREDIT" doc:"Side of the entry on this account."`
	Counterpart string                        `json:"counterpart" doc:"Path of the account on the other side." example:"rails/RTP"`
	Amount      httpapi.Minor                 `json:"amount" doc:"Amount of the entry, in the smallest unit of the currency."`
	Balance     httpapi.BigMinor              `json:"balance" doc:"Balance of the account after this entry, in recording order."`
	Transaction httpapi.ID[ident.Transaction] `json:"transactionId,omitzero" doc:"Id of the transaction, if any."`
	Effective   httpapi.Time                  `json:"effectiveAt" doc:"Effective time of the posting."`
	Recorded    httpapi.Time                  `json:"recordedAt" doc:"Recorded time of the posting."`
	Memo        string                        `json:"memo,omitempty" doc:"Memo of the posting." example:"4T9K2M7PXQ3A"`
}

func renderAccountEntry(path string, e ports.AccountEntry) accountEntryBody {
	body := accountEntryBody{Posting: postingID(e.Posting), Number: e.Position.Seq, Entry: e.Position.N, Kind: string(e.Kind), Side: "DEBIT",
		Counterpart: e.Credit,
		Amount:      minor(e.Amount), Balance: httpapi.NewBigMinor(e.Balance), Transaction: httpapi.NewID(e.Transaction),
		Effective: httpapi.NewTime(e.Effective), Recorded: httpapi.NewTime(e.Recorded), Memo: e.Memo}
	if e.Debit != path {
		body.Side, body.Counterpart = "CREDIT", e.Debit
	}
	return body
}

// ledgerAccountParams selects accounts.
type ledgerAccountParams struct {
	httpapi.ReportFormat
	httpapi.Paging
	Prefix    string           `query:"prefix" maxLength:"80" doc:"Prefix of the account path." example:"customers/"`
	Currency  httpapi.Currency `query:"currency" doc:"Currency of the account."`
	Overdrawn bool             `query:"overdrawn" doc:"Only assets whose balance is below zero."`
}

func (p ledgerAccountParams) filter() (ports.LedgerAccountFilter, error) {
	if _, err := ledger.FindChartLine(p.Cursor.ID); !p.Cursor.IsZero() && (err != nil || p.Cursor.Key == "") {
		return ports.LedgerAccountFilter{}, httpapi.InvalidCursor()
	}
	return ports.LedgerAccountFilter{Prefix: p.Prefix, Currency: money.Currency(p.Currency), Overdrawn: p.Overdrawn,
		AfterPath: p.Cursor.ID, AfterCurrency: money.Currency(p.Cursor.Key), Limit: p.Limit}, nil
}

func registerLedgerAccounts(a *httpapi.API, service Accounting) {
	httpapi.GetLongReport(a, httpapi.Operation{
		ID: "listLedgerAccounts", Path: "/ledger/accounts", Tag: tagLedger, Summary: "List ledger accounts", Permission: platform.View,
		Description: "Returns every account that was ever posted to with its current balance, by path and currency. " +
			"With format=csv, each balance is the current one when its line is read; the trial balance has the balances of one time.",
	}, func(ctx context.Context, call httpapi.Call, in *ledgerAccountParams) (accounting.LedgerAccountPage, error) {
		filter, err := in.filter()
		if err != nil {
			return accounting.LedgerAccountPage{}, err
		}
		return service.Accounts(ctx, call.Principal.Platform, filter)
	}, func(p accounting.LedgerAccountPage) httpapi.Page[ledgerAccountBody] {
		return renderUncountedPage(p.Accounts, p.More, renderLedgerAccount, func(a accounting.LedgerAccount) httpapi.Cursor {
			return httpapi.Cursor{ID: a.Account.Path, Key: string(a.Account.Currency)}
		})
	}, func(_ context.Context, call httpapi.Call, in *ledgerAccountParams) (accounting.Table, error) {
		filter, err := in.filter()
		return service.AccountsTable(call.Principal.Platform, filter), err
	})

	type getParams struct {
		httpapi.ReportFormat
		TimeBasis
		Account  string           `path:"account" maxLength:"80" doc:"Path of the account. Encode the / as %2F." example:"rails/RTP"`
		Currency httpapi.Currency `query:"currency" doc:"Currency of the account."`
		At       httpapi.Time     `query:"at" doc:"Time of the balance, inclusive. Defaults to now."`
	}
	type result struct {
		in       *getParams
		accounts []accounting.LedgerAccount
	}
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getLedgerAccount", Path: "/ledger/accounts/{account}", Tag: tagLedger, Summary: "Get the balances of a ledger account",
		Permission: platform.View,
		Description: "Returns the balances now or at a past time. By recorded time the result never changes; " +
			"by effective time it includes later corrections.",
		Errors: []fault.Code{fault.NotFound, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (result, error) {
		accounts, err := service.Account(ctx, call.Principal.Platform, in.Account, money.Currency(in.Currency),
			ports.Cutoff{By: in.kind(), Moment: in.At.Time})
		return result{in, accounts}, err
	}, func(r result) ledgerAccountBalances {
		body := ledgerAccountBalances{Path: r.in.Account, At: optionalTime(r.in.At.Time), Balances: make([]ledgerAccountBody, len(r.accounts))}
		if body.At != nil {
			body.By = timeKindName(r.in.kind())
		}
		for i, a := range r.accounts {
			body.Balances[i] = renderLedgerAccount(a)
		}
		return body
	}, func(r result) accounting.Table { return accounting.AccountsTable(r.accounts) })
	registerAccountEntries(a, service)
}

// accountEntryParams selects entries of an account.
type accountEntryParams struct {
	httpapi.ReportFormat
	httpapi.Paging
	httpapi.Sorting
	TimeBasis
	TimeRange
	Account  string           `path:"account" maxLength:"80" doc:"Path of the account. Encode the / as %2F." example:"rails/RTP"`
	Currency httpapi.Currency `query:"currency" required:"true" doc:"Currency of the account."`
}

func (p accountEntryParams) filter(call httpapi.Call) (ports.AccountEntryFilter, error) {
	after, err := parseEntryCursor(p.Cursor)
	return ports.AccountEntryFilter{
		Account: ledger.Account{Platform: call.Principal.Platform, Path: p.Account, Currency: money.Currency(p.Currency)},
		By:      p.kind(), Interval: p.interval(), After: after, Limit: p.Limit, Ascending: p.Ascending(),
	}, err
}

func registerAccountEntries(a *httpapi.API, service Accounting) {
	type result struct {
		path string
		page ports.AccountEntryPage
	}
	httpapi.GetLongReport(a, httpapi.Operation{
		ID: "listLedgerEntries", Path: "/ledger/accounts/{account}/entries", Tag: tagLedger, Summary: "List the entries of a ledger account",
		Permission: platform.View,
		Description: "Returns entries in recording order, newest first by default, each with the resulting balance. " +
			"`by` selects the time that `from` and `to` filter.",
		Errors: []fault.Code{fault.NotFound, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *accountEntryParams) (result, error) {
		filter, err := in.filter(call)
		if err != nil {
			return result{}, err
		}
		page, err := service.Entries(ctx, filter)
		return result{in.Account, page}, err
	}, func(r result) httpapi.Page[accountEntryBody] {
		return renderUncountedPage(r.page.Entries, r.page.More,
			func(e ports.AccountEntry) accountEntryBody { return renderAccountEntry(r.path, e) },
			func(e ports.AccountEntry) httpapi.Cursor { return entryCursor(e.Position) })
	}, func(_ context.Context, call httpapi.Call, in *accountEntryParams) (accounting.Table, error) {
		filter, err := in.filter(call)
		return service.EntriesTable(filter), err
	})
}
