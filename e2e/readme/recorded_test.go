package readme

import (
	"os"
	"regexp"
	"testing"
)

// varying are the texts in what commands print that are others in each run. The first group of an expression stays.
var varying = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`()[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "id"},
	{regexp.MustCompile(`()\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?`), "time"},
	{regexp.MustCompile(`(?m)(^)\d\d:\d\d:\d\d\.\d{3}`), "time"},
	{regexp.MustCompile(`()\b\d?\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4}`), "day"},
	{regexp.MustCompile(`((?:after|Done in) )[\d.]+(?:µs|ms|s)`), "duration"},
	{regexp.MustCompile(`(://(?:localhost|127\.0\.0\.1)):\d+`), "port"},
	{regexp.MustCompile(`(reference"?:? +"?)[0-9A-Z]{12}`), "reference"},
	{regexp.MustCompile(`(FUND-)[0-9A-Z]{12}`), "reference"},
	{regexp.MustCompile(`(Statement +)[0-9A-F-]+`), "number"},
	{regexp.MustCompile(`()(?:\d+ +)?(?:= )?\d+\.\d{8,} ( ?)BTC`), "bitcoin"},
	{regexp.MustCompile(`((?:"totalReceivingAmount"|"exchangeRate"|"serviceMultiplier"|exchangeRate):? +)[\d.]+`), "rate"},
	{regexp.MustCompile(`()\d+ +facts +(?:passed|nothing to check)`), "facts"}, // sealed so far
	{regexp.MustCompile(`()[0-9a-f]{8,}`), "hex"},
}

// shape returns a text with the names of what varies in place of it. Spaces are one, because columns are as wide as what is in them.
func shape(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, "${1}<"+v.name+">")
	}
	return regexp.MustCompile(` {2,}`).ReplaceAllString(text, " ")
}

// compareRecorded compares what the blocks of a document have printed with what it shows, or writes that.
func compareRecorded(t *testing.T, path string, outputs []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	written, last := "", 0
	for i, at := range documentBlocks.FindAllSubmatchIndex(text, -1) {
		if at[4] < 0 {
			continue
		}
		recorded := string(text[at[4]:at[5]])
		got := regexp.MustCompile(`http://localhost:\d+`).ReplaceAllString(outputs[i], "http://localhost:8080")
		if shape(got) == shape(recorded) {
			continue
		}
		written, last = written+string(text[last:at[4]])+got, at[5]
		if !*update {
			t.Errorf("%s: run the test with -update if block %d has to print\n%s\ninstead of\n%s", path, i+1, shape(got), shape(recorded))
		}
	}
	if *update && written != "" {
		if err := os.WriteFile(path, []byte(written+string(text[last:])), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestShape_KeepsWhatDoesNotVary(t *testing.T) {
	t.Parallel()
	// Ids, times, rates and what follows from them are left out of a comparison. Names, statuses and amounts of other currencies are not.
	same := [][2]string{
		{"Quote:01a224b1-9da9-7000-b65b-a8426dc790a5", "Quote:01a224b1-9da9-7000-b65b-000000000000"},
		{"2026-11-29T00:25:50.052640Z", "2026-12-01T10:00:00Z"},
		{"receivingAmount         99456  = 0.00099456 BTC", "receivingAmount        100456  = 0.00100456 BTC"},
		{"after 252ms", "after 1.2s"},
		{`"reference": "DTFYRS6VPPWA"`, `"reference": "0TFYRS6VPPWA"`},
	}
	for _, pair := range same {
		if shape(pair[0]) != shape(pair[1]) {
			t.Errorf("%q and %q differ", shape(pair[0]), shape(pair[1]))
		}
	}
	for _, pair := range [][2]string{
		{"Quote:01a224b1-9da9-7000-b65b-a8426dc790a5", "Transaction:01a224b1-9da9-7000-b65b-a8426dc790a5"},
		{"sendingAmount 10050  = 100.50 USD", "sendingAmount 10051  = 100.51 USD"},
		{"COMPLETED", "FAILED"},
	} {
		if shape(pair[0]) == shape(pair[1]) {
			t.Errorf("%q and %q are the same", pair[0], pair[1])
		}
	}
}
