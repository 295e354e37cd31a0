//! Makes ThreadSanitizer's variant of an object file of the standard library, from the LLVM bitcode that it carries.
//!
//! ThreadSanitizer sees only what was compiled for it. The standard library of a toolchain was not: a mutex that is taken after
//! waiting, a condition variable, a thread that is unparked order nothing in its eyes, and what they protect looks like a race.
//! The usual remedy is to build the library anew (`-Zbuild-std`), for which its source must be installed. But the library comes with
//! bitcode, for link-time optimisation, and the compiler's LLVM can be called from here: mark every function, run the
//! sanitizer's passes, write the object file anew.
//!
//! Usage: `instrument INPUT.o OUTPUT.o`, linked with the LLVM of the compiler that the library belongs to.

use std::env;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::process::ExitCode;
use std::ptr;

/// Everything that LLVM hands out is an address to us.
type Handle = *mut c_void;

unsafe extern "C" {
    fn LLVMContextCreate() -> Handle;
    fn LLVMCreateMemoryBufferWithContentsOfFile(
        path: *const c_char,
        buffer: *mut Handle,
        message: *mut *mut c_char,
    ) -> c_int;
    fn LLVMCreateBinary(buffer: Handle, context: Handle, message: *mut *mut c_char) -> Handle;
    fn LLVMObjectFileCopySectionIterator(binary: Handle) -> Handle;
    fn LLVMObjectFileIsSectionIteratorAtEnd(binary: Handle, sections: Handle) -> c_int;
    fn LLVMMoveToNextSection(sections: Handle);
    fn LLVMGetSectionName(sections: Handle) -> *const c_char;
    fn LLVMGetSectionContents(sections: Handle) -> *const c_char;
    fn LLVMGetSectionSize(sections: Handle) -> u64;
    fn LLVMCreateMemoryBufferWithMemoryRange(
        start: *const c_char,
        len: usize,
        name: *const c_char,
        zero_ended: c_int,
    ) -> Handle;
    fn LLVMParseBitcodeInContext2(context: Handle, buffer: Handle, module: *mut Handle) -> c_int;
    fn LLVMGetFirstFunction(module: Handle) -> Handle;
    fn LLVMGetNextFunction(function: Handle) -> Handle;
    fn LLVMIsDeclaration(function: Handle) -> c_int;
    fn LLVMGetEnumAttributeKindForName(name: *const c_char, len: usize) -> c_uint;
    fn LLVMCreateEnumAttribute(context: Handle, kind: c_uint, value: u64) -> Handle;
    fn LLVMAddAttributeAtIndex(function: Handle, index: c_uint, attribute: Handle);
    fn LLVMInitializeX86TargetInfo();
    fn LLVMInitializeX86Target();
    fn LLVMInitializeX86TargetMC();
    fn LLVMInitializeX86AsmPrinter();
    fn LLVMGetTarget(module: Handle) -> *const c_char;
    fn LLVMGetTargetFromTriple(
        triple: *const c_char,
        target: *mut Handle,
        message: *mut *mut c_char,
    ) -> c_int;
    fn LLVMCreateTargetMachine(
        target: Handle,
        triple: *const c_char,
        cpu: *const c_char,
        features: *const c_char,
        level: c_int,
        relocation: c_int,
        code_model: c_int,
    ) -> Handle;
    fn LLVMCreatePassBuilderOptions() -> Handle;
    fn LLVMRunPasses(
        module: Handle,
        passes: *const c_char,
        machine: Handle,
        options: Handle,
    ) -> Handle;
    fn LLVMTargetMachineEmitToFile(
        machine: Handle,
        module: Handle,
        path: *const c_char,
        kind: c_int,
        message: *mut *mut c_char,
    ) -> c_int;
}

const FUNCTION: c_uint = c_uint::MAX;
const OPTIMISED: c_int = 2;
const POSITION_INDEPENDENT: c_int = 2;
const USUAL_CODE_MODEL: c_int = 0;
const OBJECT_FILE: c_int = 1;

/// The text that LLVM left, if it left one.
unsafe fn text(message: *mut c_char) -> String {
    if message.is_null() {
        return "LLVM says nothing".into();
    }
    // SAFETY: LLVM's messages are strings that end with a zero.
    unsafe { CStr::from_ptr(message) }
        .to_string_lossy()
        .into_owned()
}

/// The module in the bitcode section of the object file.
unsafe fn module_of(path: &CStr, context: Handle) -> Result<Handle, String> {
    let (mut buffer, mut message, mut module) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: the pointers are to variables of the right types; handles come from LLVM and are alive, because nothing is ever freed here.
    unsafe {
        if LLVMCreateMemoryBufferWithContentsOfFile(path.as_ptr(), &mut buffer, &mut message) != 0 {
            return Err(text(message));
        }
        let binary = LLVMCreateBinary(buffer, context, &mut message);
        if binary.is_null() {
            return Err(text(message));
        }
        let sections = LLVMObjectFileCopySectionIterator(binary);
        while LLVMObjectFileIsSectionIteratorAtEnd(binary, sections) == 0 {
            let name = LLVMGetSectionName(sections);
            if !name.is_null() && CStr::from_ptr(name) == c".llvmbc" {
                let (start, len) = (
                    LLVMGetSectionContents(sections),
                    LLVMGetSectionSize(sections),
                );
                let bitcode = LLVMCreateMemoryBufferWithMemoryRange(
                    start,
                    len as usize,
                    c"bitcode".as_ptr(),
                    0,
                );
                return match LLVMParseBitcodeInContext2(context, bitcode, &mut module) {
                    0 => Ok(module),
                    _ => Err("its bitcode is not this LLVM's".into()),
                };
            }
            LLVMMoveToNextSection(sections);
        }
    }
    Err("it carries no bitcode".into())
}

/// Returns how many functions were marked.
unsafe fn mark_functions(context: Handle, module: Handle) -> usize {
    let name = "sanitize_thread";
    let mut marked = 0;
    // SAFETY: as above; functions of a module stay while they are walked.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let attribute = LLVMCreateEnumAttribute(context, kind, 0);
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            if LLVMIsDeclaration(function) == 0 {
                LLVMAddAttributeAtIndex(function, FUNCTION, attribute);
                marked += 1;
            }
            function = LLVMGetNextFunction(function);
        }
    }
    marked
}

unsafe fn write(module: Handle, path: &CStr) -> Result<(), String> {
    let (mut target, mut message) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: as above.
    unsafe {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        let triple = LLVMGetTarget(module);
        if LLVMGetTargetFromTriple(triple, &mut target, &mut message) != 0 {
            return Err(text(message));
        }
        let machine = LLVMCreateTargetMachine(
            target,
            triple,
            c"x86-64".as_ptr(),
            c"".as_ptr(),
            OPTIMISED,
            POSITION_INDEPENDENT,
            USUAL_CODE_MODEL,
        );
        let passes = c"tsan-module,function(tsan)";
        if !LLVMRunPasses(
            module,
            passes.as_ptr(),
            machine,
            LLVMCreatePassBuilderOptions(),
        )
        .is_null()
        {
            return Err("the sanitizer's passes fail".into());
        }
        match LLVMTargetMachineEmitToFile(machine, module, path.as_ptr(), OBJECT_FILE, &mut message)
        {
            0 => Ok(()),
            _ => Err(text(message)),
        }
    }
}

fn main() -> ExitCode {
    let paths: Vec<CString> = env::args()
        .skip(1)
        .filter_map(|path| CString::new(path).ok())
        .collect();
    let [input, output] = &paths[..] else {
        eprintln!("usage: instrument INPUT.o OUTPUT.o");
        return ExitCode::FAILURE;
    };
    // SAFETY: see the functions; nothing is freed before the process ends.
    let done = unsafe {
        let context = LLVMContextCreate();
        module_of(input, context).and_then(|module| {
            let marked = mark_functions(context, module);
            write(module, output).map(|()| marked)
        })
    };
    match done {
        Ok(marked) => {
            println!("{}: {marked} functions", input.to_string_lossy());
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{}: {reason}", input.to_string_lossy());
            ExitCode::FAILURE
        }
    }
}
