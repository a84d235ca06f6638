package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/receivables"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/receivable"
	"causeway/ports"
)

// Receivables holds the use cases on collections that were returned.
type Receivables interface {
	Record(ctx context.Context, p ident.Platform, id ident.Transaction, returned receivable.Return, request *ports.IdempotentRequest) (
		ports.ReceivableDetails, error)
	WriteOff(ctx context.Context, p ident.Platform, by platform.Author, c receivables.WriteOffCommand, request *ports.IdempotentRequest) (
		proposal.Outcome[ports.ReceivableDetails], error)
	Receivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ports.ReceivableDetails, error)
	Receivables(ctx context.Context, p ident.Platform, f ports.ReceivableFilter) (ports.Page[receivable.Receivable], error)
	Aging(ctx context.Context, p ident.Platform) (receivables.AgingReport, error)
}

// ReceivableBody holds the fields of a receivable without its changes.
type ReceivableBody struct {
	ID            httpapi.ID[ident.Receivable]      `json:"id" doc:"Id of the receivable."`
	Status        string                            `json:"status" enum:"OPEN,SETTLED,WRITTEN_OFF" doc:"Status. OPEN: something is owed. SETTLED: collected in full. WRITTEN_OFF: the rest was given up."`
	TransactionID httpapi.ID[ident.Transaction]     `json:"transactionId" doc:"Id of the transaction whose collection was returned. Its status does not change."`
	CustomerID    httpapi.ID[ident.Customer]        `json:"customerId,omitzero" doc:"Id of the customer who owes. Omitted if it is your platform."`
	AccountID     httpapi.ID[ident.InternalAccount] `json:"accountId" doc:"Id of the internal account whose money pays."`
	Rail          string                            `json:"rail" doc:"Path of the account at the partner that has paid the money back." example:"rails/ACH"`
	Amount        currencyAmount                    `json:"amount" doc:"Amount that was returned."`
	Collected     httpapi.Minor                     `json:"collected" doc:"Amount that the account has paid, in the smallest unit." example:"7000"`
	WrittenOff    httpapi.Minor                     `json:"writtenOff" doc:"Amount that was given up, in the smallest unit." example:"0"`
	Owed          httpapi.Minor                     `json:"owed" doc:"Amount that is still owed, in the smallest unit." example:"3000"`
	ReasonCode    string                            `json:"reasonCode" doc:"Partner's code of the return." example:"R01"`
	PartnerID     string                            `json:"partnerId,omitempty" doc:"Partner's id of the return." example:"RET20260314000042"`
	ReturnedAt    httpapi.Time                      `json:"returnedAt" doc:"Time the partner took the money back."`
	Note          string                            `json:"note,omitempty" doc:"Note of the return."`
	TokenID       httpapi.ID[ident.Token]           `json:"tokenId,omitzero" doc:"Id of the token that recorded it. Omitted if the operator of the service did."`
	Actor         string                            `json:"actor,omitempty" doc:"Name of the person who recorded it, if given." example:"Ana Silva"`
	CreatedAt     httpapi.Time                      `json:"createdAt" doc:"Time it was recorded."`
	UpdatedAt     httpapi.Time                      `json:"updatedAt" doc:"Time of the last change."`
}

type receivableDetailsBody struct {
	ReceivableBody
	Changes []receivableChangeBody `json:"changes" doc:"Changes, oldest first."`
}

type receivableChangeBody struct {
	ReceivableID httpapi.ID[ident.Receivable] `json:"receivableId" doc:"Id of the receivable."`
	Number       int                          `json:"number" doc:"Number of the change, from 1 on." example:"1"`
	Kind         string                       `json:"kind" enum:"RETURNED,COLLECTED,WRITTEN_OFF" doc:"Kind of change. RETURNED: the partner took the money back. COLLECTED: the account has paid. WRITTEN_OFF: the rest was given up."`
	Amount       httpapi.Minor                `json:"amount" doc:"Amount, in the smallest unit." example:"2000"`
	PostingID    httpapi.ID[ident.Posting]    `json:"postingId" doc:"Id of its posting."`
	EffectiveAt  httpapi.Time                 `json:"effectiveAt" doc:"Effective time. If its month is soft-closed or closed, the posting takes effect at the start of the first open month."`
	ChangedAt    httpapi.Time                 `json:"changedAt" doc:"Time of the change."`
	Note         string                       `json:"note,omitempty" doc:"Reason." example:"The customer cannot be reached."`
	TokenID      httpapi.ID[ident.Token]      `json:"tokenId,omitzero" doc:"Id of the token. Omitted if the service or its operator did it."`
	Actor        string                       `json:"actor,omitempty" doc:"Name of the person, if given." example:"Ana Silva"`
	Approval     *approvalBody                `json:"approval,omitempty" doc:"Approval of a write-off by a second person, if it needed four eyes."`
}

func renderReceivable(r receivable.Receivable) ReceivableBody {
	return ReceivableBody{ID: httpapi.NewID(r.ID), Status: string(r.State), TransactionID: httpapi.NewID(r.Transaction),
		CustomerID: httpapi.NewID(r.Customer), AccountID: httpapi.NewID(r.Account),
		Rail: r.Partner, Amount: renderAmount(r.Amount), Collected: minor(r.Collected), WrittenOff: minor(r.WrittenOff), Owed: minor(r.Owed()),
		ReasonCode: r.ReasonCode, PartnerID: r.PartnerID, ReturnedAt: httpapi.NewTime(r.ReturnedAt), Note: r.Note,
		TokenID: httpapi.NewID(r.By.Token), Actor: r.By.Actor,
		CreatedAt: httpapi.NewTime(r.CreatedAt), UpdatedAt: httpapi.NewTime(r.UpdatedAt)}
}

func renderReceivableDetails(d ports.ReceivableDetails) receivableDetailsBody {
	body := receivableDetailsBody{renderReceivable(d.Receivable), make([]receivableChangeBody, len(d.Changes))}
	for i, c := range d.Changes {
		body.Changes[i] = renderReceivableChange(c)
	}
	return body
}

func renderReceivableChange(c receivable.Change) receivableChangeBody {
	return receivableChangeBody{ReceivableID: httpapi.NewID(c.Receivable), Number: c.Number, Kind: string(c.Kind), Amount: minor(c.Amount),
		PostingID:   postingID(c.Posting),
		EffectiveAt: httpapi.NewTime(c.Effective), ChangedAt: httpapi.NewTime(c.At), Note: c.Note, TokenID: httpapi.NewID(c.By.Token),
		Actor: c.By.Actor, Approval: renderApproval(c.Approval)}
}

type receivableRecordRequest struct {
	TransactionID httpapi.ID[ident.Transaction] `json:"transactionId" doc:"Id of the transaction whose collection was returned: a transfer in, or a quote paid from an external account."`
	ReasonCode    string                        `json:"reasonCode" minLength:"1" maxLength:"40" doc:"Partner's code of the return." example:"R01"`
	PartnerID     string                        `json:"partnerId,omitempty" maxLength:"140" doc:"Partner's id of the return, with which its statement names it." example:"RET20260314000042"`
	ReturnedAt    httpapi.Time                  `json:"returnedAt" doc:"Time the partner took the money back."`
	Note          string                        `json:"note,omitempty" maxLength:"500" doc:"Note, stored with the return."`
}

type receivableWriteOffRequest struct {
	Note string `json:"note" minLength:"1" maxLength:"500" doc:"Reason, stored with the write-off." example:"The customer cannot be reached."`
}

type receivablesAgingBody struct {
	At   httpapi.Time             `json:"at" doc:"Time of the report."`
	Data []receivableCurrencyBody `json:"data" doc:"What is owed in each currency."`
}

type receivableCurrencyBody struct {
	Currency   httpapi.Currency `json:"currency" doc:"Currency."`
	Count      int              `json:"receivables" doc:"Number of open receivables." example:"1"`
	Days0To30  httpapi.BigMinor `json:"days0To30" doc:"Owed since at most 30 days, in the smallest unit."`
	Days31To60 httpapi.BigMinor `json:"days31To60" doc:"Owed since 31 to 60 days, in the smallest unit."`
	Days61To90 httpapi.BigMinor `json:"days61To90" doc:"Owed since 61 to 90 days, in the smallest unit."`
	DaysOver90 httpapi.BigMinor `json:"daysOver90" doc:"Owed since more than 90 days, in the smallest unit."`
	Owed       httpapi.BigMinor `json:"owed" doc:"Sum: the balance of all accounts customer-receivables/<InternalAccount> in that currency, in the smallest unit."`
}

func renderAging(r receivables.AgingReport) receivablesAgingBody {
	body := receivablesAgingBody{At: httpapi.NewTime(r.At), Data: make([]receivableCurrencyBody, len(r.Currencies))}
	for i, a := range r.Currencies {
		of := func(b receivable.Band) httpapi.BigMinor { return httpapi.NewBigMinor(a.ByAge[b]) }
		body.Data[i] = receivableCurrencyBody{httpapi.Currency(a.Currency), a.Count, of(receivable.UpTo30), of(receivable.UpTo60),
			of(receivable.UpTo90), of(receivable.Over90), httpapi.NewBigMinor(a.Owed)}
	}
	return body
}

func registerReceivables(a *httpapi.API, service Receivables) {
	type recordInput struct{ Body receivableRecordRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "recordReceivable", Path: "/ledger/receivables", Tag: tagLedger, Summary: "Record that a collection was returned",
		Permission: platform.Manage, Actor: true, Status: 201,
		Description: "Records that the payer's bank has taken back money that was collected from an external account. The whole amount is " +
			"posted against the partner. What the account of the customer holds pays at once; " +
			"the rest is owed, and later money of the account pays it, within a minute. Only the return of a completed transaction is recorded, " +
			"and its status stays. " +
			"A return that is recorded already is returned as it is now, or refused with `409 CONFLICT` if reasonCode, partnerId or returnedAt " +
			"differ. If the refund of the transaction has failed and its money is among the unmatched funds, it goes back to the partner from " +
			"there: then nobody owes it, and the response is `409 CONFLICT`.",
		Errors: []fault.Code{fault.TransactionNotFound, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *recordInput) (ports.ReceivableDetails, error) {
		b := in.Body
		return service.Record(ctx, call.Principal.Platform, b.TransactionID.Value,
			receivable.Return{ReasonCode: b.ReasonCode, PartnerID: b.PartnerID, ReturnedAt: b.ReturnedAt.Time, Note: b.Note, By: call.Author()},
			call.IdempotentRequest)
	}, renderReceivableDetails)

	type writeOffInput struct {
		ReceivableID httpapi.ID[ident.Receivable] `path:"receivableId" doc:"Id of the receivable."`
		Body         receivableWriteOffRequest
	}
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "writeOffReceivable", Path: "/ledger/receivables/{receivableId}/write-off", Tag: tagLedger, Summary: "Write off a receivable",
		Permission: platform.Manage,
		Description: "Gives up what is still owed: it is posted as an expense. It cannot be taken back, and later money of the account is not " +
			"collected.",
		Errors: []fault.Code{fault.NotFound},
	}, 200, receivableDetailsBody{}), func(ctx context.Context, call httpapi.Call,
		in *writeOffInput) (proposal.Outcome[ports.ReceivableDetails], error) {
		return service.WriteOff(ctx, call.Principal.Platform, call.Author(), receivables.WriteOffCommand{Receivable: in.ReceivableID.Value,
			Note: in.Body.Note}, call.IdempotentRequest)
	}, renderOutcome(200, renderReceivableDetails))

	type listParams struct {
		httpapi.Paging
		httpapi.Sorting
		Status     string                     `query:"status" enum:"OPEN,SETTLED,WRITTEN_OFF" doc:"Status."`
		CustomerID httpapi.ID[ident.Customer] `query:"customerId" doc:"Id of the customer who owes."`
		Currency   httpapi.Currency           `query:"currency" doc:"Currency."`
	}
	httpapi.GetPage(a, httpapi.Operation{
		ID: "listReceivables", Path: "/ledger/receivables", Tag: tagLedger, Summary: "List receivables", Permission: platform.View,
		Description: "Returns what customers owe, or have owed, for collections that were returned, newest first by default.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams, page ports.Paging) (ports.Page[receivable.Receivable], error) {
		return service.Receivables(ctx, call.Principal.Platform, ports.ReceivableFilter{Paging: page,
			State: receivable.State(in.Status), Customer: in.CustomerID.Value, Currency: money.Currency(in.Currency)})
	}, renderReceivable, func(r receivable.Receivable) ident.Receivable { return r.ID })

	type getParams struct {
		ReceivableID httpapi.ID[ident.Receivable] `path:"receivableId" doc:"Id of the receivable."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getReceivable", Path: "/ledger/receivables/{receivableId}", Tag: tagLedger, Summary: "Get a receivable", Permission: platform.View,
		Description: "Returns a receivable with its changes.", Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (ports.ReceivableDetails, error) {
		return service.Receivable(ctx, call.Principal.Platform, in.ReceivableID.Value)
	}, renderReceivableDetails)

	type agingParams struct{ httpapi.ReportFormat }
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getReceivablesAging", Path: "/ledger/receivables-aging", Tag: tagLedger, Summary: "Get the aging report of receivables",
		Permission: platform.View,
		Description: "Returns what is owed now in each currency, by the days since the return. It equals the balance of the accounts " +
			"customer-receivables/<InternalAccount> in the trial balance.",
	}, func(ctx context.Context, call httpapi.Call, _ *agingParams) (receivables.AgingReport, error) {
		return service.Aging(ctx, call.Principal.Platform)
	}, renderAging, receivables.AgingReport.Table)
}
