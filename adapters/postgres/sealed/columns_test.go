package sealed_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

func TestColumns_NothingElseIsSealed(t *testing.T) {
	t.Parallel()
	// Values are encrypted for registered columns only: no other code of the adapters calls the cipher,
	// apart from the queue of webhooks.
	call := regexp.MustCompile(`[cC]ipher\.Seal\(`)
	var callers []string
	err := filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || regexp.MustCompile(`_test\.go$`).MatchString(path) {
			return err
		}
		source, err := os.ReadFile(path)
		if call.Match(source) {
			callers = append(callers, filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path))
		}
		return err
	})
	if err != nil || len(callers) != 2 || callers[0] != "outbox/bodies.go" || callers[1] != "sealed/cipher.go" {
		t.Errorf("called by %v, %v; use Cipher.Seal with a column of the register", callers, err)
	}
}
