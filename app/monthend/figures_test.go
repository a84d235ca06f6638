package monthend

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"causeway/core/money"
	"causeway/core/period"
	"causeway/ports/portstest"
)

func TestFigures_EachVersionIsComparable(t *testing.T) {
	t.Parallel()
	// The figures that a proposal keeps are compared with those that its approval comes to, so the same run has the same text in
	// every later version of the service.
	var revaluation Revaluation
	portstest.Fill(&revaluation, "revaluation")
	var deferral FeeDeferral
	portstest.Fill(&deferral, "deferral")
	march := period.MonthOf(time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC))
	revaluation.Run.Month, deferral.Run.Month = march, march
	revaluation.Result.Lines[0].Rate = money.MustRate("1.0825")
	for name, figures := range map[string]func() (any, error){
		"postExchangeResult": revaluation.figures, "postDeferredFees": deferral.figures,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			portstest.CheckDocument(t, filepath.Join("testdata", "figures"), name, portstest.Document{
				Encode: func() (string, error) {
					f, err := figures()
					if err != nil {
						return "", err
					}
					text, err := json.Marshal(f)
					return string(text), err
				},
				Recode: func(text string) (string, error) { return text, nil }, // compared as they are
			})
		})
	}
}
