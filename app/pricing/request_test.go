package pricing

import (
	"path/filepath"
	"testing"

	"causeway/app/internal/foureyes"
	"causeway/ports/portstest"
)

func TestRequest_EachVersionIsRead(t *testing.T) {
	t.Parallel()
	// The stored request of a proposal is read by every later version of the service, with no unknown field, which would refuse
	// its approval.
	encode := func(r request) (string, error) {
		text, err := foureyes.FormatRequest(operationSet, r)
		return string(text), err
	}
	portstest.CheckDocument(t, filepath.Join("testdata", "requests"), "corridors", portstest.Document{
		Encode: func() (string, error) {
			var r request
			portstest.Fill(&r, "request")
			return encode(r)
		},
		Recode: func(text string) (string, error) {
			r, err := foureyes.ParseRequest[request]([]byte(text))
			if err != nil {
				return "", err
			}
			return encode(r)
		},
	})
}
