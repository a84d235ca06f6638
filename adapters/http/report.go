package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
)

// ReportFormat is embedded in the input of an operation that GetReport or GetLongReport registers.
type ReportFormat struct {
	Format string `query:"format" enum:"json,csv" default:"json" doc:"Format of the response: json, or csv for spreadsheets (RFC 4180), with amounts in major units and all lines, whatever the limit. In csv, a text that a spreadsheet would interpret as a formula is prefixed with an apostrophe."`
}

func (f ReportFormat) isCSV() bool { return f.Format == "csv" }

const csvType = "text/csv"

// CSV is a report that can be written as CSV.
type CSV interface {
	CSV(ctx context.Context, out io.Writer) error
}

// GetReport registers an operation that returns a report as JSON or, with format=csv, as CSV: render
// and table turn the same result into each of them.
func GetReport[In, Result, Body any, Table CSV](a *API, op Operation, handle Handler[In, Result], render func(Result) Body,
	table func(Result) Table) {
	GetLongReport(a, op, handle, render, func(ctx context.Context, call Call, in *In) (CSV, error) {
		result, err := handle(ctx, call, in)
		if err != nil {
			return nil, err
		}
		return table(result), nil
	})
}

// GetLongReport registers an operation that returns a page of a report as JSON, as handle and render
// do, or with format=csv all of it: what table returns is written while the client reads, with the
// timeouts of a File. An error before the first 32 KiB becomes an error response.
func GetLongReport[In, Result, Body any, Table CSV](a *API, op Operation, handle Handler[In, Result], render func(Result) Body,
	table Handler[In, Table]) {
	if _, ok := any(new(In)).(interface{ isCSV() bool }); !ok {
		panic(fmt.Sprintf("httpapi: the input of %s must embed ReportFormat", op.ID))
	}
	name := reportName(op.Path)
	register(a, http.MethodGet, op, handle, render, func(ctx context.Context, call Call, in *In) (*File, error) {
		if !any(in).(interface{ isCSV() bool }).isCSV() {
			return nil, nil
		}
		t, err := table(ctx, call, in)
		if err != nil {
			return nil, err
		}
		return &File{Name: name, ContentType: csvType + "; charset=utf-8; header=present", Write: t.CSV}, nil
	})
}

// reportName returns the name of the CSV file at a path: its last part that is not a parameter.
func reportName(path string) string {
	for _, segment := range slices.Backward(segments(path)) {
		if _, isParam := parseParameter(segment); !isParam {
			return segment + ".csv"
		}
	}
	return "report.csv"
}
