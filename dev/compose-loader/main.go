// Loads compose files as Docker Compose does, by the library that it loads them with, and prints the project as JSON: for tests.
//
//	compose-loader [--env-file <file>] <compose file> [<file that is merged into it>...]
//
// All profiles are loaded, so that everything is checked: the schema, variables, and what services refer to. Exit code 1: with a sentence, why
// a file is refused.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if err := load(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func load() error {
	envFile := flag.String("env-file", "", "variables, in place of .env")
	flag.Parse()
	// without a file that is named none is read, not the .env of whoever runs the tests either
	options := []cli.ProjectOptionsFn{cli.WithOsEnv}
	if *envFile != "" {
		options = append(options, cli.WithEnvFiles(*envFile), cli.WithDotEnv)
	}
	options = append(options, cli.WithName("custody-gateway"), cli.WithProfiles([]string{"*"}))
	project, err := cli.NewProjectOptions(flag.Args(), options...)
	if err != nil {
		return err
	}
	loaded, err := project.LoadProject(context.Background())
	if err != nil {
		return err
	}
	text, err := loaded.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}
