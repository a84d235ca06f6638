package httpapi

import (
	"encoding/json"
	"testing"
)

func TestSamples_OfAnExampleInEachLanguage(t *testing.T) {
	t.Parallel()
	// A recorded request is written as a call of each client: with its parameters, its body in the order of the example, and texts that
	// need quotes. One that was refused has no sample.
	f := newUnbuiltFixture(t)
	f.Examples(exampleFiles(map[string]string{
		"sendParcel.json":  sendParcelExamples,
		"dropParcel.json":  `[{"method": "DELETE", "path": "/parcels/Quote:1", "status": 204}]`,
		"listParcels.json": `[{"method": "GET", "path": "/parcels?limit=2&sortOrder=asc", "status": 200, "response": {"data": []}}]`,
	}))
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	var got referenceExamples
	if err := json.Unmarshal([]byte(f.do("GET", "/docs/examples.json", "", withoutCredentials).body), &got); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct{ id, language, want string }{
		{"sendParcel", "typescript", `const result = await causeway.post("/parcels", { body: { weight: 7, note: "it's" } });`},
		{"sendParcel", "python", `result = causeway.send_parcel({"weight": 7, "note": "it's"})`},
		{"sendParcel", "go", "response, err := client.SendParcelWithBodyWithResponse(ctx, nil, \"application/json\", strings.NewReader(`{\n" +
			"  \"weight\": 7,\n  \"note\": \"it's\"\n}`))\nif err != nil {\n\treturn err\n}\nfmt.Printf(\"%s\\n\", response.Body)"},
		{"dropParcel", "typescript", `await causeway.delete("/parcels/{parcelId}", { params: { path: { parcelId: "Quote:1" } } });`},
		{"dropParcel", "python", `causeway.drop_parcel("Quote:1")`},
		{"dropParcel", "go", "if _, err := client.DropParcelWithResponse(ctx, \"Quote:1\"); err != nil {\n\treturn err\n}"},
		{"listParcels", "python", "for item in causeway.list_parcels_iter(limit=2, sort_order=\"asc\"):\n    print(item)"},
	} {
		if sample := got.Operations[c.id][0].Samples[c.language]; sample != c.want {
			t.Errorf("%s in %s:\n%s\nwant\n%s", c.id, c.language, sample, c.want)
		}
	}
	if refused := got.Operations["sendParcel"][2]; refused.Title != "Too late" || refused.Samples != nil {
		t.Errorf("a refused request is %+v", refused)
	}
}

func TestLiterals_KeepEveryDigitAndOrder(t *testing.T) {
	t.Parallel()
	// Decimal numbers are written as the language keeps them, whatever their digits; other values as they are, in their order.
	body := json.RawMessage(`{"b": [1, null, true], "rate": 0.1234567890123456789, "a-b": {"rate": 1, "n": 9007199254740993}}`)
	rates := map[string]bool{"rate": true}
	for want, l := range map[string]literals{
		"{\n  b: [1, null, true],\n  rate: '0.1234567890123456789',\n  \"a-b\": { rate: '1', n: 9007199254740993 },\n}": {identifierKeys: true,
			indent: "  ", null: "null", yes: "true", no: "false", rates: rates, rate: func(text string) string { return "'" + text + "'" }},
		"{\n    \"b\": [1, None, True],\n    \"rate\": D(0.1234567890123456789),\n    \"a-b\": {\"rate\": D(1), \"n\": 9007199254740993},\n}": {
			indent: "    ", null: "None", yes: "True", no: "False", rates: rates, rate: func(text string) string { return "D(" + text + ")" }},
	} {
		if got := l.text(body, 0); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}
