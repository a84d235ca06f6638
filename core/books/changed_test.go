package books

import (
	"slices"
	"testing"

	"causeway/core/diff"
)

func TestChangedSettings_EachField(t *testing.T) {
	t.Parallel()
	// Each setting that differs is named as in the API, with its values; what stays is not.
	before := DefaultSettings()
	after, err := before.With("functionalCurrency=EUR", "unrealisedResult=KEEP", "feeRecognition=DELIVERY", "yearEndMonth=6",
		"receivablesAllowance=1,5,25,100", "fourEyes=CLOSE,ADJUSTMENT")
	if err != nil {
		t.Fatal(err)
	}
	want := []diff.Field{{Name: "feeRecognition", Before: "CONVERSION", After: "DELIVERY"}, {Name: "fourEyes", After: "ADJUSTMENT,CLOSE"},
		{Name: "functionalCurrency", After: "EUR"}, {Name: "receivablesAllowance", After: "1,5,25,100"},
		{Name: "unrealisedResult", Before: "REVERSE", After: "KEEP"}, {Name: "yearEndMonth", Before: "12", After: "6"}}
	if got := ChangedSettings(before, after); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := ChangedSettings(after, after); len(got) > 0 {
		t.Errorf("nothing has changed: %+v", got)
	}
}
