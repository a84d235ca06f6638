package api

import (
	"embed"
	"io/fs"
)

// exampleFiles holds the recorded examples, one file per operation or webhook. Only the
// end-to-end tests write them, from calls to the real service:
// go test ./e2e -run Examples -update
//
//go:embed examples
var exampleFiles embed.FS

func examples() fs.FS {
	folder, err := fs.Sub(exampleFiles, "examples")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return folder
}
