package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/platform"
)

// weights is a report on parcels.
type weights []string

func (w weights) CSV(_ context.Context, out io.Writer) error {
	_, err := io.WriteString(out, "weight\r\n"+strings.Join(w, "\r\n")+"\r\n")
	return err
}

type weightsBody struct {
	Weights []string `json:"weights" doc:"Weights."`
}

type weightsInput struct {
	ReportFormat
	Shelf int `path:"shelf" minimum:"1" doc:"Number of the shelf."`
	Limit int `query:"limit" default:"1" doc:"Maximum number of weights."`
}

// newReportFixture returns an API with a report and a long report.
func newReportFixture(t *testing.T) *fixture {
	f := newUnbuiltFixture(t)
	find := func(_ context.Context, _ Call, in *weightsInput) (weights, error) {
		if in.Shelf > 9 {
			return nil, fault.New(fault.QuoteNotFound, "There is no such shelf.")
		}
		return weights{"1", "2"}, nil
	}
	render := func(w weights) weightsBody { return weightsBody{w} }
	GetReport(f.API, Operation{ID: "getWeights", Path: "/shelves/{shelf}/weights", Summary: "Get weights", Description: "Weights.",
		Tag: "Parcels", Permission: platform.View,
		Errors: []fault.Code{fault.QuoteNotFound}}, find, render, func(w weights) weights { return w })
	GetLongReport(f.API, Operation{ID: "listWeights", Path: "/shelves/{shelf}", Summary: "List weights", Description: "Weights.",
		Tag: "Parcels", Permission: platform.View,
		Errors: []fault.Code{fault.QuoteNotFound}}, func(ctx context.Context, call Call, in *weightsInput) (weights, error) {
		all, err := find(ctx, call, in)
		return all[:min(in.Limit, len(all))], err
	}, render, find)
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestReport_InEachFormat(t *testing.T) {
	t.Parallel()
	// A report is JSON, or a CSV file with all lines if the request asks for it.
	f := newReportFixture(t)
	const inCSV = "weight\r\n1\r\n2\r\n"
	for path, want := range map[string]struct{ body, contentType, disposition string }{
		"/shelves/1/weights":             {`{"weights":["1","2"]}`, "application/json", ""},
		"/shelves/1/weights?format=json": {`{"weights":["1","2"]}`, "application/json", ""},
		"/shelves/1/weights?format=csv":  {inCSV, "text/csv; charset=utf-8; header=present", "attachment; filename=weights.csv"},
		"/shelves/1":                     {`{"weights":["1"]}`, "application/json", ""},
		"/shelves/1?format=csv":          {inCSV, "text/csv; charset=utf-8; header=present", "attachment; filename=shelves.csv"},
	} {
		got := f.do("GET", path, "")
		if got.status != 200 || strings.TrimSuffix(got.body, "\n") != strings.TrimSuffix(want.body, "\n") ||
			got.header.Get("Content-Type") != want.contentType || got.header.Get("Content-Disposition") != want.disposition {
			t.Errorf("%s: %d %q %v", path, got.status, got.body, got.header)
		}
	}
}

func TestReport_RefusedInEachFormat(t *testing.T) {
	t.Parallel()
	// Errors are JSON in every format, and parameters and permissions are checked as for JSON.
	f := newReportFixture(t)
	for path, want := range map[string]struct {
		status int
		code   string
	}{
		"/shelves/10/weights?format=csv":      {404, "QUOTE_NOT_FOUND"},
		"/shelves/10?format=csv":              {404, "QUOTE_NOT_FOUND"},
		"/shelves/0?format=csv":               {400, "INVALID_INPUT"},
		"/shelves/1/weights?format=xml":       {400, "INVALID_INPUT"},
		"/shelves/1?format=csv&limits=2":      {400, "INVALID_INPUT"},
		"/shelves/1/weights?fromat=csv":       {400, "INVALID_INPUT"},
		"/shelves/1/weights?format=CSV&extra": {400, "INVALID_INPUT"},
	} {
		if got := f.do("GET", path, ""); got.status != want.status || got.error.Code != want.code {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

func TestReport_DescribesBothFormats(t *testing.T) {
	t.Parallel()
	// The description has both content types and the parameter that selects one.
	f := newReportFixture(t)
	var described struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name string }
			Responses  map[string]struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
	}
	if err := json.Unmarshal([]byte(f.do("GET", "/openapi.json", "").body), &described); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/shelves/{shelf}/weights", "/shelves/{shelf}"} {
		op := described.Paths[path]["get"]
		content := op.Responses["200"].Content
		if len(content) != 2 || content["application/json"].Schema == nil || content["text/csv"].Schema["type"] != "string" {
			t.Errorf("%s: %v", path, content)
		}
		if !containsFormat(op.Parameters) {
			t.Errorf("%s: %v", path, op.Parameters)
		}
	}
}

func containsFormat(parameters []struct{ Name string }) bool {
	for _, p := range parameters {
		if p.Name == "format" {
			return true
		}
	}
	return false
}

func TestGetReport_NeedsFormat(t *testing.T) {
	t.Parallel()
	// An input without the parameter is refused at registration.
	f := newUnbuiltFixture(t)
	defer func() {
		if recover() == nil {
			t.Error("an input without ReportFormat is registered")
		}
	}()
	GetReport(f.API, Operation{ID: "getWeights", Path: "/weights", Summary: "Get weights", Tag: "Parcels", Permission: platform.View},
		func(context.Context, Call, *struct{}) (weights, error) { return nil, errors.New("not called") },
		func(w weights) weightsBody { return weightsBody{w} }, func(w weights) weights { return w })
}
