package api

import (
	"context"
	"io"
	"math"
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	booksapp "causeway/app/books"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ledger"
	"causeway/ports"
)

// Books holds the use cases on the books of a platform.
type Books interface {
	Settings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	SettingsVersions(ctx context.Context, p ident.Platform, f ports.VersionFilter) (ports.VersionPage[books.SettingsVersion], error)
	Chart(ctx context.Context, p ident.Platform) ([]booksapp.ChartAccount, error)
	AddAccount(ctx context.Context, p ident.Platform, c booksapp.Change, idempotent *ports.IdempotentRequest,
		a books.AddedAccount) (proposal.Outcome[booksapp.ChartAccount], error)
	ChangeAccount(ctx context.Context, p ident.Platform, c booksapp.Change, path string,
		change booksapp.AccountChange) (proposal.Outcome[booksapp.ChartAccount], error)
	GLMapping(ctx context.Context, p ident.Platform, version *int) (books.MappingVersion, error)
	GLMappingVersions(ctx context.Context, p ident.Platform, f ports.VersionFilter) (ports.VersionPage[books.MappingVersion], error)
	SetGLMapping(ctx context.Context, p ident.Platform, c booksapp.Change, base int,
		lines []books.MappingLine) (proposal.Outcome[books.MappingVersion], error)
	ImportGLMapping(ctx context.Context, p ident.Platform, c booksapp.Change, base int,
		file io.Reader) (proposal.Outcome[books.MappingVersion], error)
	ImportOpeningBalances(ctx context.Context, p ident.Platform, c booksapp.Change, idempotent *ports.IdempotentRequest,
		in booksapp.OpeningImport) (proposal.Outcome[[]booksapp.PostedOpening], error)
	ReverseOpeningBalances(ctx context.Context, p ident.Platform, c booksapp.Change, idempotent *ports.IdempotentRequest,
		currency money.Currency) (proposal.Outcome[ledger.Posting], error)
	SetSettings(ctx context.Context, p ident.Platform, c booksapp.Change, next books.Settings) (proposal.Outcome[books.SettingsVersion], error)
}

// LedgerSettings are the accounting policies in requests and responses.
type LedgerSettings struct {
	FunctionalCurrency httpapi.Currency `json:"functionalCurrency,omitempty" doc:"Functional currency of the platform (IAS 21): the currency of its exchange result. Omitted if none is chosen. It cannot change once exchange results are posted." example:"USD"`
	UnrealisedResult   string           `json:"unrealisedResult" enum:"REVERSE,KEEP" doc:"What happens to the unrealised exchange result of a month. REVERSE: it is reversed at the start of the next month. KEEP: it stays, and the next month adds the change since."`
	FeeRecognition     string           `json:"feeRecognition" enum:"CONVERSION,DELIVERY" doc:"When fees are income: at the conversion of a payment, or at its delivery."`
	YearEndMonth       int              `json:"yearEndMonth" minimum:"1" maximum:"12" doc:"Last month of the financial year: 12 is December." example:"12"`
	Allowance          string           `json:"receivablesAllowance,omitempty" maxLength:"40" doc:"Percentages of receivables that are expected to be lost (IFRS 9), by the days since the return: up to 30, 60, 90, and over. Omitted if no allowance is made." example:"1,5,25,100"`
	FourEyes           []string         `json:"fourEyes" maxItems:"20" enum:"ADJUSTMENT,ASSIGNMENT,SOFT_CLOSE,CLOSE,PRICE,SETTINGS,WRITE_OFF,YEAR_END,TREASURY,CHART,RELEASE,CONNECTION" doc:"Actions that need the approval of a second person: the request makes a proposal. ADJUSTMENT: adjustments, and corrections of breaks. ASSIGNMENT: assignments of unmatched funds. SOFT_CLOSE: soft-closing and reopening a month. CLOSE: closing a month, and posting its exchange result, deferred fees and allowance for receivables. YEAR_END: closing a year, and reversing its closing. WRITE_OFF: write-offs of receivables. TREASURY: transfers and their arrivals, settlements, sweeps, and purposes of accounts. CHART: added accounts, the mapping to the general ledger, and opening balances. RELEASE: releases of payments that wait at a connection, for a review or for money. CONNECTION: settings of connections that serve the platform, and balances of them that are set by hand, which are commands of the operator; another person approves them by command. SETTINGS: these settings, also if only another action is listed. PRICE: changes of prices of the platform or of all platforms, which are commands of the operator; another operator approves them by command."`
}

func (s LedgerSettings) settings() books.Settings {
	settings := books.Settings{FunctionalCurrency: money.Currency(s.FunctionalCurrency),
		UnrealisedResult: books.UnrealisedResult(s.UnrealisedResult),
		FeeRecognition:   books.FeeRecognition(s.FeeRecognition), YearEndMonth: time.Month(s.YearEndMonth)}
	for _, a := range s.FourEyes {
		settings.FourEyes = append(settings.FourEyes, books.Action(a))
	}
	rates, err := books.ParseAllowanceRates(s.Allowance)
	if err != nil {
		rates = books.AllowanceRates{-1} // is not valid: Checked says what is
	}
	settings.ReceivablesAllowance = rates
	return settings
}

type ledgerSettingsUpdateRequest struct {
	LedgerSettings
	Note string `json:"note,omitempty" maxLength:"500" doc:"Reason, stored with the change." example:"The group reports in US dollars."`
}

// Resolve reports what core finds invalid.
func (r ledgerSettingsUpdateRequest) Resolve(huma.Context) []error {
	_, err := r.settings().Checked()
	return httpapi.FieldErrors(err)
}

// ChangeRecord says who made a version of something, and when.
type ChangeRecord struct {
	Version   int                     `json:"version" doc:"Number of the version. 0: the defaults, which no change has replaced." example:"3"`
	ChangedAt *httpapi.Time           `json:"changedAt,omitempty" doc:"Time of the change. Omitted for version 0."`
	TokenID   httpapi.ID[ident.Token] `json:"tokenId,omitzero" doc:"Id of the token that made the change. Omitted for version 0, and if the operator of the service made it."`
	Actor     string                  `json:"actor,omitempty" doc:"Name of the person who made the change, if it was given." example:"Ana Ruiz"`
	Approval  *approvalBody           `json:"approval,omitempty" doc:"Approval of the change by a second person, if it needed four eyes."`
	Note      string                  `json:"note,omitempty" doc:"Reason of the change."`
}

func renderChange(version int, at time.Time, by platform.Author, approval platform.Approval, note string) ChangeRecord {
	return ChangeRecord{version, optionalTime(at), httpapi.NewID(by.Token), by.Actor, renderApproval(approval), note}
}

type ledgerSettingsBody struct {
	LedgerSettings
	ChangeRecord
}

func renderLedgerSettings(v books.SettingsVersion) ledgerSettingsBody {
	body := ledgerSettingsBody{
		LedgerSettings{httpapi.Currency(v.FunctionalCurrency), string(v.UnrealisedResult), string(v.FeeRecognition), int(v.YearEndMonth),
			v.ReceivablesAllowance.String(), make([]string, len(v.FourEyes))},
		renderChange(v.Version, v.At, v.By, v.Approval, v.Note),
	}
	for i, a := range v.FourEyes {
		body.FourEyes[i] = string(a)
	}
	return body
}

func registerLedgerSettings(a *httpapi.API, service Books) {
	httpapi.Get(a, httpapi.Operation{
		ID: "getLedgerSettings", Path: "/ledger/settings", Tag: tagLedger, Summary: "Get the accounting policies", Permission: platform.View,
		Description: "Returns the accounting policies of the platform: its functional currency, and when exchange results and fees are " +
			"recognised.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (books.SettingsVersion, error) {
		return service.Settings(ctx, call.Principal.Platform)
	}, renderLedgerSettings)

	type setInput struct{ Body ledgerSettingsUpdateRequest }
	httpapi.Put(a, withFourEyes(httpapi.Operation{
		ID: "setLedgerSettings", Path: "/ledger/settings", Tag: tagLedger, Summary: "Set the accounting policies", Permission: platform.Manage,
		Description: "Replaces the accounting policies. The former ones stay readable as a version. Policies apply from the next month-end " +
			"posting on; what is posted does not change.",
	}, 200, ledgerSettingsBody{}), func(ctx context.Context, call httpapi.Call,
		in *setInput) (proposal.Outcome[books.SettingsVersion], error) {
		return service.SetSettings(ctx, call.Principal.Platform, booksChange(call, in.Body.Note), in.Body.settings())
	}, renderOutcome(200, renderLedgerSettings))

	type listParams struct {
		Limit  int            `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum number of versions to return."`
		Cursor httpapi.Cursor `query:"cursor" doc:"Cursor of the next page: nextCursor of the previous response."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listLedgerSettingsVersions", Path: "/ledger/settings/versions", Tag: tagLedger, Summary: "List the versions of the accounting " +
			"policies", Permission: platform.View,
		Description: "Returns every version of the accounting policies with who changed them and why, newest first. The defaults have no " +
			"version of their own.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams) (ports.VersionPage[books.SettingsVersion], error) {
		filter, err := versionFilter(settingsCursor, in.Cursor, in.Limit)
		if err != nil {
			return ports.VersionPage[books.SettingsVersion]{}, err
		}
		return service.SettingsVersions(ctx, call.Principal.Platform, filter)
	}, func(p ports.VersionPage[books.SettingsVersion]) httpapi.Page[ledgerSettingsBody] {
		return renderUncountedPage(p.Versions, p.More, renderLedgerSettings, func(v books.SettingsVersion) httpapi.Cursor {
			return numberCursor(settingsCursor, int64(v.Version))
		})
	})
}

// booksChange returns who makes a request that changes the books, and why.
func booksChange(call httpapi.Call, note string) booksapp.Change {
	return booksapp.Change{By: call.Author(), Note: note}
}

// versionFilter returns the filter of a page of versions.
func versionFilter(kind string, c httpapi.Cursor, limit int) (ports.VersionFilter, error) {
	before, err := parseNumberCursor(kind, c)
	if before > math.MaxInt32 {
		err = httpapi.InvalidCursor()
	}
	return ports.VersionFilter{Before: int(before), Limit: limit}, err
}
