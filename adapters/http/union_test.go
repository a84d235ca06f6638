package httpapi

import (
	"context"
	"maps"
	"strings"
	"testing"

	"causeway/core/platform"
)

// payerUnion selects its branch by a marker property if the discriminator is missing.
type payerUnion struct{}

func (payerUnion) Union() UnionSpec {
	return UnionSpec{Discriminator: "kind", Branches: []Branch{
		{Name: "LaterPayer", Values: []string{"LATER"}, Marker: "customerId", Fields: []Field{{Name: "customerId", Required: true},
			{Name: "currency", Required: true}}},
		{Name: "NowPayer", Values: []string{"NOW"}, Marker: "accountId", Fields: []Field{
			{Name: "accountId", Required: true, MinLength: 3}, {Name: "since", Format: "date"}, {Name: "mode", Enum: []string{"A", "B"}},
			{Name: "amount", Schema: Minor(0).Schema(nil)}, {Name: "address", Fields: []Field{{Name: "city", Required: true}}},
		}},
	}}
}

type payment struct {
	Body struct {
		Payer Union[payerUnion] `json:"payer"`
		Way   Union[ways]       `json:"way,omitzero"`
	}
}

func TestUnion_ValidatesChosenBranch(t *testing.T) {
	t.Parallel()
	// The branch is selected by the discriminator or a marker; then all invalid fields of
	// the branch and of nested unions are listed with their paths.
	for body, c := range map[string]struct {
		branch string
		want   map[string]string
	}{
		`{"payer":{"kind":"LATER","customerId":"c","currency":"USD"}}`:             {"LaterPayer", nil},
		`{"payer":{"customerId":"c","currency":"USD","unknown":[1]}}`:              {"LaterPayer", nil},
		`{"payer":{"kind":null,"accountId":"abc"}}`:                                {"NowPayer", nil},
		`{"payer":{"accountId":"abc","amount":5,"mode":"B","since":"2025-10-13"}}`: {"NowPayer", nil},
		`{"payer":{"accountId":"abc"},"way":null}`:                                 {"NowPayer", nil},
		`{"payer":{"accountId":"abc"},"way":{"kind":"STREET","plate":"AB123"}}`:    {"NowPayer", nil},
		`{}`:                                    {"", map[string]string{"payer": "is required"}},
		`{"payer":null}`:                        {"", map[string]string{"payer": "must be an object"}},
		`{"payer":"now"}`:                       {"", map[string]string{"payer": "must be an object"}},
		`{"payer":{}}`:                          {"", map[string]string{"payer": "must contain one of: customerId, accountId"}},
		`{"payer":{"kind":"NEVER"}}`:            {"", map[string]string{"payer.kind": "must be one of LATER, NOW"}},
		`{"payer":{"kind":7,"customerId":"c"}}`: {"", map[string]string{"payer.kind": "must be one of LATER, NOW"}},
		`{"payer":{"customerId":5}}`:            {"", map[string]string{"payer.customerId": "must be a string", "payer.currency": "is required"}},
		`{"payer":{"kind":"NOW"}}`:              {"", map[string]string{"payer.accountId": "is required"}},
		`{"payer":{"accountId":"ab","since":"x","mode":"C","amount":1.0,"address":{}}}`: {"", map[string]string{
			"payer.accountId": "must have at least 3 characters", "payer.since": "must be a date, such as 2025-10-13",
			"payer.mode":   "must be one of A, B",
			"payer.amount": "must be an integer, without quotes, decimal point or exponent", "payer.address.city": "is required"}},
		`{"payer":{"accountId":"abc"},"way":{}}`: {"", map[string]string{"way.kind": "must be one of ROAD, STREET, SEA"}},
		`{"payer":{"accountId":"abc"},"way":{"kind":"ROAD","plate":"1","driver":{"kind":"ROBOT"}}}`: {"", map[string]string{
			"way.plate": "must be a plate such as AB123", "way.driver.model": "is required"}},
		`{"payer":{"accountId":"abc"},"way":{"kind":"ROAD","plate":"AB123","driver":{"kind":"GHOST"}}}`: {"", map[string]string{
			"way.driver.kind": "must be one of PERSON, ROBOT"}},
		`{"payer":{"accountId":"abc"},"way":{"kind":"ROAD","plate":"AB123","driver":5}}`: {"",
			map[string]string{"way.driver": "must be an object"}},
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			f := newUnbuiltFixture(t)
			var branch, text string
			var decoded struct{ AccountID string }
			Post(f.API, Operation{ID: "pay", Path: "/pay", Summary: "Pay", Tag: "Parcels", Permission: platform.Transact},
				func(_ context.Context, _ Call, in *payment) (int, error) {
					branch, text = in.Body.Payer.Branch(), in.Body.Payer.Text("accountId")
					return 0, in.Body.Payer.Decode(&decoded)
				}, func(int) NoBody { return NoBody{} })
			if err := f.Build(); err != nil {
				t.Fatal(err)
			}

			got := f.do("POST", "/pay", body)

			if c.want == nil {
				if got.status != 204 || branch != c.branch || text != decoded.AccountID {
					t.Errorf("got %d %s, form %s with account %q and %q", got.status, got.body, branch, text, decoded.AccountID)
				}
				return
			}
			if got.status != 400 || !maps.Equal(got.fields, c.want) {
				t.Errorf("got %d %s\nwant %v", got.status, got.body, c.want)
			}
		})
	}
}

func TestUnion_MarshalJSON(t *testing.T) {
	t.Parallel()
	// A union in a response contains the given values; a union that was read is written
	// unchanged.
	var out strings.Builder
	written, err := NewUnion[payerUnion](map[string]any{"kind": "NOW", "accountId": "abc"}).MarshalJSON()
	out.Write(written)
	if err != nil || out.String() != `{"accountId":"abc","kind":"NOW"}` {
		t.Errorf("written %s, %v", out.String(), err)
	}
	var read Union[payerUnion]
	if err := read.UnmarshalJSON([]byte(`{"kind": "NOW"}`)); err != nil || read.IsZero() {
		t.Errorf("read %+v, %v", read, err)
	}
	if again, err := read.MarshalJSON(); err != nil || string(again) != `{"kind": "NOW"}` {
		t.Errorf("written again %s, %v", again, err)
	}
	if !new(Union[payerUnion]).IsZero() {
		t.Error("nothing is something")
	}
}
