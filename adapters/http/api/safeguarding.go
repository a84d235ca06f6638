package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/app/treasury"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/safeguarding"
	"causeway/ports"
)

// Safeguarding holds the use cases on what is held for customers.
type Safeguarding interface {
	Accounts(ctx context.Context, p ident.Platform) ([]treasury.Account, error)
	SetPurpose(ctx context.Context, p ident.Platform, change ports.AccountPurpose) (proposal.Outcome[treasury.Account], error)
	Report(ctx context.Context, p ident.Platform, at time.Time) (safeguarding.Report, error)
	Reports(ctx context.Context, p ident.Platform, f ports.SafeguardingFilter) (ports.SafeguardingPage, error)
	KeptReport(ctx context.Context, p ident.Platform, day safeguarding.Day, version int) (ports.KeptReport, error)
	KeepReport(ctx context.Context, p ident.Platform, day safeguarding.Day, by platform.Author, idempotent *ports.IdempotentRequest) (
		ports.KeptReport, error)
	Acknowledge(ctx context.Context, p ident.Platform, day safeguarding.Day, by platform.Author, note string,
		idempotent *ports.IdempotentRequest) (ports.KeptReport, error)
}

// dayText is a day in a path or a body, such as 2026-10-31.
type dayText string

// Schema returns the schema of a day.
func (dayText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", PatternDescription: "a day of the form YYYY-MM-DD",
		Examples: []any{"2026-10-31"}}
}

// parse returns the day, or INVALID_INPUT for one that matches the pattern but does not exist.
func (d dayText) parse() (safeguarding.Day, error) {
	day, err := safeguarding.ParseDay(string(d))
	if err != nil {
		return "", fault.Invalid(fault.Field{Field: "day", Message: err.Error()})
	}
	return day, nil
}

type safeguardingReportBody struct {
	Day              string                            `json:"day,omitempty" format:"date" doc:"Day of the report, in UTC. Omitted in a report on demand, which is not kept." example:"2026-10-31"`
	Version          int                               `json:"version,omitempty" doc:"Version of the report of the day, from 1." example:"1"`
	Versions         int                               `json:"versions,omitempty" doc:"Number of versions of the report of the day." example:"1"`
	AsOf             httpapi.Time                      `json:"asOf" doc:"Effective time of the balances."`
	MadeAt           httpapi.Time                      `json:"madeAt" doc:"Time the report was made."`
	TokenID          httpapi.ID[ident.Token]           `json:"tokenId,omitzero" doc:"Id of the token that had the report made again. Omitted if the service or its operator made it."`
	Actor            string                            `json:"actor,omitempty" doc:"Name of the person who had the report made again, if given." example:"Ana Silva"`
	Status           string                            `json:"status" enum:"SHORTFALL,UNCONFIRMED,EXCESS,EVEN" doc:"SHORTFALL if less is held than owed in any currency; otherwise UNCONFIRMED if nothing outside the ledger confirms what an account holds in any, EXCESS if more is held than owed in any, or EVEN."`
	Currencies       []safeguardingCurrencyBody        `json:"currencies" doc:"Comparison of each currency."`
	Statements       []safeguardingStatementBody       `json:"statements" doc:"Last imported statement of each account that holds customers' money and has one."`
	Valuation        *safeguardingValuationBody        `json:"valuation,omitempty" doc:"Comparison of all currencies in the functional currency of the platform. Omitted if it has none."`
	Posting          int64                             `json:"posting" doc:"Number of the last posting in the ledger when the report was made. 0 if there was none." example:"84211"`
	PostingDigest    string                            `json:"postingDigest,omitempty" doc:"SHA-256 digest of that posting, in hexadecimal."`
	Checkpoint       string                            `json:"checkpoint,omitempty" doc:"Latest signed checkpoint of the ledger log at that time, in C2SP format. Omitted if there was none."`
	Digest           string                            `json:"digest,omitempty" doc:"SHA-256 digest of the whole report, in hexadecimal, which causeway ledger check recomputes. Only of a kept report."`
	Acknowledgements []safeguardingAcknowledgementBody `json:"acknowledgements,omitempty" doc:"Who has seen this version of the report, or an earlier one in which no less was missing in any currency, and what was done."`
}

type safeguardingCurrencyBody struct {
	Currency    httpapi.Currency       `json:"currency" doc:"Currency."`
	Requirement httpapi.BigMinor       `json:"requirement" doc:"What is owed to customers, in the smallest unit."`
	Resource    httpapi.BigMinor       `json:"resource" doc:"What is held for them at partners, in the smallest unit."`
	Difference  httpapi.BigMinor       `json:"difference" doc:"resource less requirement, in the smallest unit. It equals the sum of the lines of the section OWN_FUNDS."`
	Status      string                 `json:"status" enum:"SHORTFALL,UNCONFIRMED,EXCESS,EVEN" doc:"Result of the comparison. UNCONFIRMED if no less is held than owed, and nothing outside the ledger confirms what an account holds."`
	Manual      *httpapi.BigMinor      `json:"manual,omitempty" doc:"What of resource comes from adjustments since it was last confirmed, in the smallest unit: the sum of the lines. Omitted in reports that were made before this was recorded."`
	Lines       []safeguardingLineBody `json:"lines" doc:"Accounts, by section and path."`
}

type safeguardingLineBody struct {
	Section string           `json:"section" enum:"REQUIREMENT,RESOURCE,OWN_FUNDS" doc:"REQUIREMENT: owed to customers. RESOURCE: held for them at a partner. OWN_FUNDS: everything else, which adds up to the company's own money in the accounts of the resource."`
	Account string           `json:"account" doc:"Path of the account, or of a line of the chart of accounts." example:"rails/RTP"`
	Amount  httpapi.BigMinor `json:"amount" doc:"What the account adds to its section, in the smallest unit."`

	Confirmation string            `json:"confirmation,omitempty" enum:"STATEMENT,RAIL_PROOF,SANDBOX,IN_TRANSIT,NOTHING_HELD,NONE" doc:"What confirms, from outside the ledger, that an account of the resource holds the amount: a statement of the day, the daily proof of connections, the sandbox, that it is on its way between two accounts, that nothing is held, or nothing. Omitted in other sections, and in reports that were made before this was recorded."`
	Manual       *httpapi.BigMinor `json:"manual,omitempty" doc:"What adjustments have added to the account, less what they took out, since manualSince, in the smallest unit. It is part of amount. Omitted as confirmation is."`
	ManualSince  string            `json:"manualSince,omitempty" format:"date" doc:"First day of these adjustments: after the last day before the report that was confirmed, or the first day of the month eleven months before." example:"2026-10-30"`
}

type safeguardingStatementBody struct {
	Account          string                           `json:"account" doc:"Path of the account." example:"rails/RTP"`
	Currency         httpapi.Currency                 `json:"currency" doc:"Currency of the account."`
	ReconciliationID httpapi.ID[ident.Reconciliation] `json:"reconciliationId" doc:"Id of the reconciliation that imported the statement."`
	LastDay          string                           `json:"lastDay" format:"date" doc:"Last day of the statement." example:"2026-10-30"`
	ClosingBalance   *httpapi.BigMinor                `json:"closingBalance,omitempty" doc:"Closing balance of the statement, in the smallest unit. Omitted if it has none."`
	Difference       *httpapi.BigMinor                `json:"difference,omitempty" doc:"Closing balance less the balance of the ledger account at the end of the last day, in the smallest unit."`
	OpenBreaks       int                              `json:"openBreaks" doc:"Number of breaks of the reconciliation that were open." example:"0"`
}

type safeguardingValuationBody struct {
	Currency    httpapi.Currency  `json:"currency" doc:"Functional currency."`
	Requirement *httpapi.BigMinor `json:"requirement,omitempty" doc:"Value of what is owed, in the smallest unit. Omitted if a currency has no rate."`
	Resource    *httpapi.BigMinor `json:"resource,omitempty" doc:"Value of what is held, in the smallest unit. Omitted if a currency has no rate."`
	Difference  *httpapi.BigMinor `json:"difference,omitempty" doc:"resource less requirement."`
	Status      string            `json:"status,omitempty" enum:"SHORTFALL,UNCONFIRMED,EXCESS,EVEN" doc:"Result of the comparison of the values. A shortfall in one currency can be hidden by an excess in another."`
	RatesKeptAt *httpapi.Time     `json:"ratesKeptAt,omitempty" doc:"Time of the market rates. Omitted if none were kept for the time of the report."`
	Missing     []string          `json:"missingRates,omitempty" doc:"Currencies without a rate." example:"[\"USDB\"]"`
}

type safeguardingAcknowledgementBody struct {
	At      httpapi.Time            `json:"at" doc:"Time of the acknowledgement."`
	TokenID httpapi.ID[ident.Token] `json:"tokenId,omitzero" doc:"Id of the token. Omitted if the operator of the service did it."`
	Actor   string                  `json:"actor,omitempty" doc:"Name of the person, if given." example:"Ana Silva"`
	Note    string                  `json:"note" doc:"What was done." example:"Moved 500.00 USD from own/OPERATING the same day."`
}

type safeguardingAccountBody struct {
	Account  string                          `json:"account" doc:"Path of the account." example:"rails/RTP"`
	Purpose  string                          `json:"purpose" enum:"CLIENT,OWN" doc:"Whose money it holds: customers' or the company's own."`
	Balances []safeguardingBalanceBody       `json:"balances" doc:"Current balances, one per currency with postings."`
	Changes  []safeguardingPurposeChangeBody `json:"changes" doc:"Changes of the purpose, oldest first."`
}

type safeguardingBalanceBody struct {
	Currency httpapi.Currency `json:"currency" doc:"Currency."`
	Balance  httpapi.BigMinor `json:"balance" doc:"Balance, in the smallest unit."`
}

type safeguardingPurposeChangeBody struct {
	Purpose  string                  `json:"purpose" enum:"CLIENT,OWN" doc:"New purpose."`
	Version  int                     `json:"version" doc:"Number of the change, from 1." example:"1"`
	At       httpapi.Time            `json:"at" doc:"Time of the change."`
	TokenID  httpapi.ID[ident.Token] `json:"tokenId,omitzero" doc:"Id of the token. Omitted if the operator of the service did it."`
	Actor    string                  `json:"actor,omitempty" doc:"Name of the person, if given." example:"Ana Silva"`
	Approval *approvalBody           `json:"approval,omitempty" doc:"Approval by a second person, if it needed four eyes."`
	Note     string                  `json:"note,omitempty" doc:"Reason." example:"This account is pre-funded by us."`
}

type safeguardingAccountListResponse struct {
	Data []safeguardingAccountBody `json:"data" doc:"Accounts, by path."`
}

type safeguardingPurposeRequest struct {
	Purpose string `json:"purpose" enum:"CLIENT,OWN" doc:"Whose money the account holds."`
	Note    string `json:"note,omitempty" maxLength:"500" doc:"Reason, stored with the change." example:"This account is pre-funded by us."`
}

type safeguardingAcknowledgeRequest struct {
	Note string `json:"note" minLength:"1" maxLength:"500" doc:"What was done." example:"Moved 500.00 USD from own/OPERATING the same day."`
}

func renderSafeguardingReport(r safeguarding.Report) safeguardingReportBody {
	body := safeguardingReportBody{Day: string(r.Day), Version: r.Version, AsOf: httpapi.NewTime(r.AsOf), MadeAt: httpapi.NewTime(r.MadeAt),
		TokenID: httpapi.NewID(r.By.Token), Actor: r.By.Actor,
		Status: string(r.Status()), Currencies: make([]safeguardingCurrencyBody, len(r.Figures)), Statements: make([]safeguardingStatementBody,
			len(r.Statements)),
		Posting: r.Seq, PostingDigest: encodeHex(r.PostingDigest), Checkpoint: r.Checkpoint}
	for i, f := range r.Figures {
		c := safeguardingCurrencyBody{Currency: httpapi.Currency(f.Currency), Requirement: httpapi.NewBigMinor(f.Requirement),
			Resource:   httpapi.NewBigMinor(f.Resource),
			Difference: httpapi.NewBigMinor(f.Difference()), Status: string(f.Status()), Lines: make([]safeguardingLineBody, len(f.Lines))}
		if manual, known := f.Manual(); known {
			amount := httpapi.NewBigMinor(manual)
			c.Manual = &amount
		}
		for j, l := range f.Lines {
			c.Lines[j] = safeguardingLineBody{Section: string(l.Section), Account: l.Path, Amount: httpapi.NewBigMinor(l.Amount),
				Confirmation: string(l.Confirmation), ManualSince: string(l.ManualSince)}
			if l.Confirmation != "" {
				manual := httpapi.NewBigMinor(l.Manual)
				c.Lines[j].Manual = &manual
			}
		}
		body.Currencies[i] = c
	}
	for i, s := range r.Statements {
		statement := safeguardingStatementBody{Account: s.Path, Currency: httpapi.Currency(s.Currency),
			ReconciliationID: httpapi.NewID(s.Reconciliation), LastDay: string(s.Day), OpenBreaks: s.OpenBreaks}
		if s.HasClosing {
			closing, difference := httpapi.NewBigMinor(s.Closing), httpapi.NewBigMinor(s.Difference)
			statement.ClosingBalance, statement.Difference = &closing, &difference
		}
		body.Statements[i] = statement
	}
	body.Valuation = renderValuation(r)
	return body
}

func safeguardingTable(r safeguarding.Report) (t accounting.Table) {
	t.Header, t.Rows = treasury.Table(r)
	return t
}

func renderValuation(r safeguarding.Report) *safeguardingValuationBody {
	v := r.Valuation
	if v.Currency == "" {
		return nil
	}
	body := &safeguardingValuationBody{Currency: httpapi.Currency(v.Currency), RatesKeptAt: optionalTime(v.RatesKeptAt)}
	for _, c := range v.Missing {
		body.Missing = append(body.Missing, string(c))
	}
	if v.Complete() {
		requirement, resource, difference := httpapi.NewBigMinor(v.Requirement), httpapi.NewBigMinor(v.Resource),
			httpapi.NewBigMinor(v.Resource.Sub(v.Requirement))
		body.Requirement, body.Resource, body.Difference, body.Status = &requirement, &resource, &difference, string(r.ValuationStatus())
	}
	return body
}

func renderKeptReport(r ports.KeptReport) safeguardingReportBody {
	body := renderSafeguardingReport(r.Report)
	body.Versions, body.Digest = r.Versions, encodeHex(r.Digest)
	for _, a := range r.Acknowledgements {
		body.Acknowledgements = append(body.Acknowledgements, safeguardingAcknowledgementBody{httpapi.NewTime(a.At), httpapi.NewID(a.By.Token),
			a.By.Actor, a.Note})
	}
	return body
}

func renderSafeguardingAccount(a treasury.Account) safeguardingAccountBody {
	body := safeguardingAccountBody{Account: a.Path, Purpose: string(a.Purpose), Balances: make([]safeguardingBalanceBody, len(a.Balances)),
		Changes: make([]safeguardingPurposeChangeBody, len(a.Changes))}
	for i, b := range a.Balances {
		body.Balances[i] = safeguardingBalanceBody{httpapi.Currency(b.Account.Currency), httpapi.NewBigMinor(b.Balance)}
	}
	for i, c := range a.Changes {
		body.Changes[i] = safeguardingPurposeChangeBody{string(c.Purpose), c.Version, httpapi.NewTime(c.At), httpapi.NewID(c.By.Token),
			c.By.Actor, renderApproval(c.Approval), c.Note}
	}
	return body
}

const safeguardingReportCursor = "day"

func registerSafeguarding(a *httpapi.API, service Safeguarding) {
	type listParams struct {
		httpapi.Paging
		Status string `query:"status" enum:"SHORTFALL" doc:"Only reports with a shortfall in any currency."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listSafeguardingReports", Path: "/ledger/safeguarding", Tag: tagLedger, Summary: "List safeguarding reports",
		Permission: platform.View,
		Description: "Returns the last version of the report of each day, newest day first. Soon after the end of each day, in UTC, the " +
			"service compares what is owed to customers " +
			"with what is held for them at partners, by effective time, and keeps the report. An event is sent for a shortfall. Reports never " +
			"change and are never deleted.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams) (ports.SafeguardingPage, error) {
		filter := ports.SafeguardingFilter{ShortfallOnly: in.Status != "", Limit: in.Limit}
		if !in.Cursor.IsZero() {
			before, err := safeguarding.ParseDay(in.Cursor.ID)
			if err != nil || in.Cursor.Key != safeguardingReportCursor {
				return ports.SafeguardingPage{}, httpapi.InvalidCursor()
			}
			filter.Before = before
		}
		return service.Reports(ctx, call.Principal.Platform, filter)
	}, func(p ports.SafeguardingPage) httpapi.Page[safeguardingReportBody] {
		return renderUncountedPage(p.Reports, p.More, renderKeptReport, func(r ports.KeptReport) httpapi.Cursor {
			return httpapi.Cursor{ID: string(r.Day), Key: safeguardingReportCursor}
		})
	})

	type currentParams struct {
		httpapi.ReportFormat
		At httpapi.Time `query:"at" doc:"Effective time of the balances, inclusive. Defaults to now."`
	}
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getCurrentSafeguardingReport", Path: "/ledger/safeguarding/current", Tag: tagLedger, Summary: "Get a safeguarding report on demand",
		Permission:  platform.View,
		Description: "Compares what is owed to customers with what is held for them now or at a past time. The report is not kept.",
		Errors:      []fault.Code{fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *currentParams) (safeguarding.Report, error) {
		return service.Report(ctx, call.Principal.Platform, in.At.Time)
	}, renderSafeguardingReport, safeguardingTable)

	type getParams struct {
		httpapi.ReportFormat
		Day     dayText `path:"day" doc:"Day, as YYYY-MM-DD." example:"2026-10-31"`
		Version int     `query:"version" minimum:"1" maximum:"2147483647" doc:"Version of the report. Defaults to the last one."`
	}
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getSafeguardingReport", Path: "/ledger/safeguarding/{day}", Tag: tagLedger, Summary: "Get the safeguarding report of a day",
		Permission:  platform.View,
		Description: "Returns a version of the report that was kept for a day.", Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (ports.KeptReport, error) {
		day, err := in.Day.parse()
		if err != nil {
			return ports.KeptReport{}, err
		}
		return service.KeptReport(ctx, call.Principal.Platform, day, in.Version)
	}, renderKeptReport, func(r ports.KeptReport) accounting.Table { return safeguardingTable(r.Report) })
	registerSafeguardingChanges(a, service)
}

func registerSafeguardingChanges(a *httpapi.API, service Safeguarding) {
	type runInput struct {
		Day dayText `path:"day" doc:"Day, as YYYY-MM-DD." example:"2026-10-31"`
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "runSafeguardingReport", Path: "/ledger/safeguarding/{day}/run", Tag: tagLedger, Summary: "Make the safeguarding report of a day " +
			"again", Permission: platform.Manage, Actor: true, Status: 201,
		Description: "Makes the report of a day that is over, with everything that was posted since, and keeps it as the next version. Earlier " +
			"versions stay.",
		Errors: []fault.Code{fault.MonthArchived, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *runInput) (ports.KeptReport, error) {
		day, err := in.Day.parse()
		if err != nil {
			return ports.KeptReport{}, err
		}
		return service.KeepReport(ctx, call.Principal.Platform, day, call.Author(), call.IdempotentRequest)
	}, renderKeptReport)

	type acknowledgeInput struct {
		Day  dayText `path:"day" doc:"Day, as YYYY-MM-DD." example:"2026-10-31"`
		Body safeguardingAcknowledgeRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "acknowledgeSafeguardingReport", Path: "/ledger/safeguarding/{day}/acknowledge", Tag: tagLedger,
		Summary: "Acknowledge a safeguarding report", Permission: platform.Manage, Actor: true,
		Description: "Records that someone has seen the last version of the report of a day, and what was done about a shortfall or an excess.",
		Errors:      []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *acknowledgeInput) (ports.KeptReport, error) {
		day, err := in.Day.parse()
		if err != nil {
			return ports.KeptReport{}, err
		}
		return service.Acknowledge(ctx, call.Principal.Platform, day, call.Author(), in.Body.Note, call.IdempotentRequest)
	}, renderKeptReport)

	httpapi.Get(a, httpapi.Operation{
		ID: "listSafeguardingAccounts", Path: "/ledger/safeguarding/accounts", Tag: tagLedger, Summary: "List accounts at partners with their " +
			"purpose", Permission: platform.View,
		Description: "Returns the accounts at partners that have postings or whose purpose was set. Rails and chains hold customers' money " +
			"unless their purpose was set to OWN; " +
			"accounts below own/ always hold the company's own.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) ([]treasury.Account, error) {
		return service.Accounts(ctx, call.Principal.Platform)
	}, func(accounts []treasury.Account) safeguardingAccountListResponse {
		list := safeguardingAccountListResponse{Data: make([]safeguardingAccountBody, len(accounts))}
		for i, account := range accounts {
			list.Data[i] = renderSafeguardingAccount(account)
		}
		return list
	})

	type purposeInput struct {
		Account string `path:"account" maxLength:"80" doc:"Path of the account. Encode the / as %2F." example:"rails/RTP"`
		Body    safeguardingPurposeRequest
	}
	httpapi.Put(a, withFourEyes(httpapi.Operation{
		ID: "setSafeguardingAccountPurpose", Path: "/ledger/safeguarding/accounts/{account}", Tag: tagLedger,
		Summary: "Set the purpose of an account at a partner", Permission: platform.Manage,
		Description: "Says whose money an account at a partner holds. It counts for reports made from now on. An account cannot become OWN " +
			"while customers' money is in it, beyond what others hold in excess.",
	}, 200, safeguardingAccountBody{}), func(ctx context.Context, call httpapi.Call,
		in *purposeInput) (proposal.Outcome[treasury.Account], error) {
		return service.SetPurpose(ctx, call.Principal.Platform,
			ports.AccountPurpose{Path: in.Account, Purpose: safeguarding.Purpose(in.Body.Purpose), By: call.Author(), Note: in.Body.Note})
	}, renderOutcome(200, renderSafeguardingAccount))
}
