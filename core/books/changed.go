package books

import (
	"strconv"
	"strings"

	"causeway/core/diff"
)

// ChangedSettings returns the fields of which two versions of settings differ, by the names of the API.
func ChangedSettings(before, after Settings) []diff.Field {
	return diff.Between(before.values(), after.values())
}

func (s Settings) values() diff.Values {
	actions := make([]string, len(s.FourEyes))
	for i, a := range s.FourEyes {
		actions[i] = string(a)
	}
	return diff.Values{"functionalCurrency": string(s.FunctionalCurrency), "unrealisedResult": string(s.UnrealisedResult),
		"feeRecognition": string(s.FeeRecognition), "yearEndMonth": strconv.Itoa(int(s.YearEndMonth)),
		"receivablesAllowance": s.ReceivablesAllowance.String(), "fourEyes": strings.Join(actions, ",")}
}
