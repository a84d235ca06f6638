package api

import (
	"embed"
	"io/fs"
)

// exampleFiles are the examples of the description, a file an operation or webhook. The
// end-to-end tests play them against the real service and write them, nobody else does:
// go test ./e2e -run Examples -update
//
//go:embed examples
var exampleFiles embed.FS

func examples() fs.FS {
	folder, err := fs.Sub(exampleFiles, "examples")
	if err != nil {
		panic(err) // the name is right above
	}
	return folder
}
