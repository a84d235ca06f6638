package exports

import (
	"context"
	"io"

	"causeway/app/exports/statement"
	"causeway/core/financials"
	"causeway/core/ident"
)

// FinancialStatements returns financial statements of a platform as a PDF. isFinal: their last month is closed.
func (e *Service) FinancialStatements(ctx context.Context, p ident.Platform, report financials.Report, isFinal bool) (Document, error) {
	issuer, err := e.Store.Platform(ctx, p)
	if err != nil {
		return Document{}, err
	}
	now := report.Columns[0].Period
	name := now.To.String()
	if now.From != now.To {
		name = now.From.String() + "-to-" + name
	}
	return Document{Name: "financial-statements-" + name + ".pdf", ContentType: "application/pdf",
		Write: e.limitConcurrency(p, func(_ context.Context, out io.Writer) error {
			return statement.FinancialsPDF(out, statement.Financials{Company: e.Company, Issuer: issuer.Name, Report: report, IsFinal: isFinal})
		})}, nil
}
